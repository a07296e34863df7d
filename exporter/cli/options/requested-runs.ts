import { readFile } from 'node:fs/promises';
import { isRunId } from '../../../core/run/run-id.ts';
import { doubledLoads } from '../../../core/sweeps/sweep-figures.ts';
import { runGroup } from '../../run/run-group.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { NamedDataset } from '../../load/datasets/named-dataset.ts';
import { CliError } from '../failure.ts';
import { SHARED_BY_RUNS } from './group-options.ts';
import { CHECK_OPTIONS } from './judge-options.ts';
import { countLoadSteps, loadSteps, type LoadStep } from './load-options.ts';
import {
  givenArguments,
  unknownFlags,
  valuesOf,
  withFile,
  type GivenArguments,
  type GivenValues,
  type Options,
} from './options.ts';
import { LOAD_SOURCE_OPTIONS } from './prometheus-options.ts';
import { publicValue } from './public-value.ts';
import { FIND_OPTIONS, RUN_OPTIONS, runRequests, type RunOptions } from './run-options.ts';

/** Of one command. */
const MAX_RUNS = 10_000;

export interface RequestedRuns {
  /** What all of them have in common is the same in each; the rest is that of the first. */
  readonly options: RunOptions;
  /** How many different loads there are. */
  readonly steps: number;
  /** In the order in which they are performed. */
  readonly requests: readonly RunRequest[];
}

/** The name of the model of a request that lacks it. */
export type ModelSource = (request: RunRequest) => Promise<string>;

/** The runs that flags, environment and scenario file ask for. Throws an `ExpectedError`, and what the source of models throws. */
export async function requestedRuns(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  modelOf?: ModelSource,
): Promise<RequestedRuns> {
  const flags = await givenRun(argv, environment);
  const planned = await recordedPlanFile(flags, environment);
  const config = flags.values.get('config')?.texts.at(-1);
  const files = config === undefined ? [new Map()] : await fileValues(config, flags.values);
  const read = (given: GivenArguments): RunOptions => withDoubledLoads(valuesOf(RUN_OPTIONS, given), files.length);
  const each: { stated: GivenArguments; options: RunOptions; named: NamedDataset | null }[] = [];
  for (const file of files) {
    const stated = withFile(planned, file);
    const named = await namedFile(stated, environment);
    const given = named === null ? stated : withInput(stated, named.path);
    const options = read(given);
    const asks = options.model.length === 0 && modelOf !== undefined && options.url.length > 0;
    const model = asks ? await modelOf(withoutModel(options)) : null;
    const withNames = (some: GivenArguments): GivenArguments => (model === null ? some : withModel(some, model));
    each.push({ stated: withNames(stated), options: asks ? read(withNames(given)) : options, named });
  }
  const [first] = each;
  if (first === undefined) throw new CliError('--config describes no run');
  const { options } = first;
  checkCount(
    each.map((run) => run.options),
    '--concurrency, --request-rate and --num-profile-runs describe',
  );
  const steps = each.flatMap((run) => {
    const loads = loadSteps(run.options);
    return runRequests(run.options).map((request, i) => ({
      ...request,
      traffic: withSource(request.traffic, run.named),
      commandLine: runCommandLine(run.stated.values, loads[i]),
    }));
  });
  const requests = requestedGroup(steps, options);
  if (requests.length > 1 && requests.some(({ shard }) => shard !== null))
    throw new CliError('--shard supports a single run: no lists of loads, no matrix, no --num-profile-runs');
  return { options, steps: steps.length, requests };
}

/** The runs of one command, in their order. Throws a `CliError`. */
function requestedGroup(steps: readonly RunRequest[], options: RunOptions): readonly RunRequest[] {
  const runs = runGroup(steps, {
    repeats: options['num-profile-runs'],
    samePrompts: options['same-prompts'],
    groupId: options['run-id'],
  });
  const unfit = runs.find(({ runId }) => runId !== null && !isRunId(runId));
  if (unfit !== undefined) throw new CliError(`--run-id is too long: the ID of a run would be ${String(unfit.runId)}`);
  return runs;
}

/** The arguments of `llmbench run`. What is known of other tools' flags is loaded only when a flag is unknown. */
export async function givenRun(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<GivenArguments> {
  if (unknownFlags(RUN_OPTIONS, argv).length === 0) return givenArguments(RUN_OPTIONS, argv, environment);
  const { PEER_NAMES } = await import('../peer-options/peers.ts');
  return givenArguments(RUN_OPTIONS, argv, environment, undefined, PEER_NAMES);
}

/** The arguments with our names of options instead of other tools'. Throws a `CliError`. */
export async function withOwnNames(argv: readonly string[], options: Options): Promise<readonly string[]> {
  if (unknownFlags(options, argv).length === 0) return argv;
  const { ownArguments } = await import('../peer-options/peers.ts');
  return ownArguments(argv, options);
}

/** What the tool whose names of options are used would also do, which these arguments do not say; null: nothing. */
export async function unseenDefaults(argv: readonly string[]): Promise<string | null> {
  if (unknownFlags(RUN_OPTIONS, argv).length === 0) return null;
  return (await import('../peer-options/peers.ts')).unseenDefaults(argv, RUN_OPTIONS);
}

/** The file of `--dataset`, downloaded if it is not in the cache; null without the option. Throws an `ExpectedError`. */
async function namedFile(given: GivenArguments, environment: NodeJS.ProcessEnv): Promise<NamedDataset | null> {
  const name = given.values.get('dataset')?.texts.at(-1);
  if (name === undefined) return null;
  for (const other of ['input-file', 'find'])
    if (given.values.has(other)) throw new CliError(`--dataset and --${other} cannot be used together`);
  const { 'dataset-rows': rows, 'dataset-column': column } = valuesOf(RUN_OPTIONS, given);
  const { namedDataset, datasetHosts } = await import('../../load/datasets/named-dataset.ts');
  return namedDataset(name, { rows, column }, datasetHosts(environment));
}

/**
 * The arguments with the plan of a recorded load as a file instead of the options that describe it, so that the command of the
 * run repeats what it sent. Throws a `CliError`.
 */
async function recordedPlanFile(given: GivenArguments, environment: NodeJS.ProcessEnv): Promise<GivenArguments> {
  if (!given.values.has('load-from-prometheus')) return given;
  for (const other of ['input-file', 'dataset', 'find', 'fixed-schedule'])
    if (given.values.has(other)) throw new CliError(`--load-from-prometheus and --${other} cannot be used together`);
  const options = valuesOf(RUN_OPTIONS, given);
  const { keptPlan } = await import('../recorded-plan.ts');
  const path = await keptPlan(options, options['random-seed'] ?? 0, environment);
  const left = [...given.values].filter(([name]) => !Object.hasOwn(LOAD_SOURCE_OPTIONS, name));
  return { ...given, values: new Map([...left, ['input-file', { texts: [path], source: '--load-from-prometheus' }]]) };
}

const withInput = (given: GivenArguments, path: string): GivenArguments =>
  withFile(given, new Map([['input-file', { texts: [path], source: '--dataset' }]]));

function withSource(traffic: RunRequest['traffic'], named: NamedDataset | null): RunRequest['traffic'] {
  const { file } = traffic.dataset;
  if (named === null || file === null) return traffic;
  const { source, notes } = named;
  return { ...traffic, dataset: { ...traffic.dataset, file: { ...file, source, notes } } };
}

/** As if the model had been given, so that the command of the run names it. */
export const withModel = (given: GivenArguments, model: string): GivenArguments =>
  withFile(given, new Map([['model', { texts: [model], source: '/v1/models' }]]));

/** As long as no server has named one. */
export const NO_MODEL = 'unknown';

/** What is wrong with other options is reported before the server is queried. */
function withoutModel(options: RunOptions): RunRequest {
  const [request] = runRequests({ ...options, model: [NO_MODEL] });
  if (request === undefined) throw new CliError('the options describe no run');
  return request;
}

/** `--sweep auto` is the list of all loads that it may need; it ends early. */
function withDoubledLoads(options: RunOptions, combinations: number): RunOptions {
  const { sweep, concurrency, 'sweep-max': highest, 'request-count': requests } = options;
  if (sweep === null) return options;
  const refused = (reason: string): CliError => new CliError(`--sweep auto ${reason}`);
  if (combinations > 1) throw refused('cannot be used with a matrix');
  if (concurrency !== null && concurrency.length > 1) throw refused('requires one --concurrency, the first load');
  if (requests !== null && requests < highest)
    throw refused(
      `requires --benchmark-duration, or a --request-count of at least --sweep-max (${highest}): ` +
        `${requests} requests are less than the highest concurrency`,
    );
  const loads = doubledLoads(concurrency?.[0] ?? 1, highest);
  if (loads.length === 0) throw refused(`begins at ${concurrency?.[0]}, above --sweep-max ${highest}`);
  return { ...options, concurrency: loads };
}

/** Before they are expanded: a typing error must not fill the memory. */
function checkCount(options: readonly RunOptions[], what: string): void {
  const steps = options.reduce((sum, each) => sum + countLoadSteps(each), 0);
  const count = steps * (options[0]?.['num-profile-runs'] ?? 1);
  if (count > MAX_RUNS) throw new CliError(`${what} ${tooMany(count)}`);
}

const tooMany = (count: number): string => `${count} runs; at most ${MAX_RUNS} with one command`;

/** The file's values once for every combination of its matrix; what is given otherwise is not varied. */
async function fileValues(path: string, given: GivenValues): Promise<readonly GivenValues[]> {
  const { combinations, readScenario } = await import('./scenario-file.ts');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`--config: ${path} cannot be read: ${(error as Error).message}`);
  }
  const { values, matrix } = readScenario(text, path, RUN_OPTIONS, SHARED_BY_RUNS);
  const varied = matrix.filter(({ name }) => !given.has(name));
  const count = varied.reduce((product, { choices }) => product * choices.length, 1);
  if (count > MAX_RUNS) throw new CliError(`${path}: the matrix describes ${tooMany(count)}`);
  return combinations(varied).map((combination) => new Map([...located(values, path), ...located(combination, path)]));
}

function located(values: GivenValues, path: string): GivenValues {
  return new Map([...values].map(([name, { texts, source }]) => [name, { texts, source: `${path}: ${source}` }]));
}

/** Not part of a command that measures the same again: they name one execution, group runs, print or judge. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['run-id', 'shard', 'start-at', 'config', 'num-profile-runs', 'profile-run-cooldown-seconds', 'json', 'check'],
  ...['show-servers', 'verbose', 'sweep', 'sweep-max'],
  // Facts about one execution.
  ...['metadata', 'server-image'],
  ...Object.keys({ ...FIND_OPTIONS, ...CHECK_OPTIONS }),
]);

/**
 * The words of a command that measures one load again, from wherever its options were given. Secrets are
 * replaced by `***`, see `publicValue`.
 */
export function runCommandLine(given: GivenValues, step: LoadStep | undefined): readonly string[] {
  const words = Object.entries(RUN_OPTIONS).flatMap(([name, option]) => {
    const texts = LEFT_OUT.has(name) ? undefined : textsOfStep(name, given, step);
    if (texts === undefined) return [];
    const { value, multiple } = option as { value?: string; multiple?: boolean };
    if (value === undefined) return isOff(texts.at(-1)) ? [] : [`--${name}`];
    const used = multiple === true ? texts : texts.slice(-1);
    return used.flatMap((text) => optionWords(name, publicValue(name, text)));
  });
  return ['llmbench', 'run', ...words];
}

/** A list of loads becomes the load of the step. */
function textsOfStep(name: string, given: GivenValues, step: LoadStep | undefined): readonly string[] | undefined {
  const texts = given.get(name)?.texts;
  const one = name === 'concurrency' ? step?.concurrency : name === 'request-rate' ? step?.requestRate : undefined;
  return one === undefined || one === null ? texts : [one === Infinity ? 'inf' : String(one)];
}

const isOff = (text: string | undefined): boolean => text === 'false' || text === '0';

const optionWords = (name: string, text: string): readonly string[] =>
  text.startsWith('-') ? [`--${name}=${text}`] : [`--${name}`, text];
