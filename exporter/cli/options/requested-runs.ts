import { readFile } from 'node:fs/promises';
import { doubledLoads } from '../../../core/sweeps/saturation.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { CliError } from '../failure.ts';
import { requestedGroup, SHARED_BY_RUNS } from './group-options.ts';
import { countLoadSteps, loadSteps } from './load-options.ts';
import { PEER_NAMES } from '../peer-options/peer-arguments.ts';
import { givenNames, givenValues, readOptions, type GivenValues } from './options.ts';
import { runCommandLine } from './run-command-line.ts';
import { RUN_OPTIONS, runRequests, type RunOptions } from './run-options.ts';

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

/** The runs that flags, environment and scenario file ask for. Throws a `CliError`, and what the source of models throws. */
export async function requestedRuns(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  modelOf?: ModelSource,
): Promise<RequestedRuns> {
  const { config } = readOptions(RUN_OPTIONS, argv, environment, undefined, PEER_NAMES);
  const files = config === null ? [new Map()] : await fileValues(config, givenNames(RUN_OPTIONS, argv, environment));
  const read = (values: GivenValues): RunOptions =>
    withDoubledLoads(readOptions(RUN_OPTIONS, argv, environment, values), files.length);
  const each: { values: GivenValues; options: RunOptions }[] = [];
  for (const file of files) {
    const options = read(file);
    const asks = options.model === null && modelOf !== undefined && options.url.length > 0;
    const values = asks ? withModel(file, await modelOf(withoutModel(options))) : file;
    each.push({ values, options: asks ? read(values) : options });
  }
  const [first] = each;
  if (first === undefined) throw new CliError('--config describes no run');
  const { options } = first;
  checkCount(
    each.map((run) => run.options),
    '--concurrency, --request-rate and --num-profile-runs describe',
  );
  const steps = each.flatMap((run) => {
    const given = givenValues(RUN_OPTIONS, argv, environment, run.values);
    const loads = loadSteps(run.options);
    return runRequests(run.options).map((request, i) => ({ ...request, commandLine: runCommandLine(given, loads[i]) }));
  });
  const requests = requestedGroup(steps, options);
  if (requests.length > 1 && requests.some(({ shard }) => shard !== null))
    throw new CliError('--shard supports a single run: no lists of loads, no matrix, no --num-profile-runs');
  return { options, steps: steps.length, requests };
}

/** As if the model had been given, so that the command of the run names it. */
export const withModel = (values: GivenValues, model: string): GivenValues =>
  new Map([...values, ['model', { texts: [model], source: '/v1/models' }]]);

/** What is wrong with other options is reported before the server is queried. */
function withoutModel(options: RunOptions): RunRequest {
  const [request] = runRequests({ ...options, model: '' });
  if (request === undefined) throw new CliError('the options describe no run');
  return request;
}

/** `--sweep auto` is the list of all loads that it may need; it ends early. */
function withDoubledLoads(options: RunOptions, combinations: number): RunOptions {
  const { sweep, concurrency, 'sweep-max': highest, 'request-count': requests } = options;
  if (sweep === null) return options;
  const refused = (reason: string): CliError => new CliError(`--sweep auto ${reason}`);
  if (combinations > 1) throw refused('cannot be used with a matrix');
  if (options['num-profile-runs'] > 1)
    throw refused('has no repeats: repeat the loads that it found, such as --concurrency 8,16,32 --num-profile-runs 3');
  if (options['request-rate'] !== null || options.stages !== null || options['fixed-schedule'])
    throw refused(
      'varies the concurrency; use a list of rates, such as --request-rate 5,10,20, or --find request-rate',
    );
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
async function fileValues(path: string, given: ReadonlySet<string>): Promise<readonly GivenValues[]> {
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
