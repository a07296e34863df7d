import { createRunId, isRunId } from '../../../core/run/run-id.ts';
import { fewestPairs } from '../../../core/stats/shift.ts';
import { quoted, shellCommand } from '../../../core/text/words.ts';
import { PairRuns, type PairSide, DISCARDED_TAG, orderOfPair } from '../../judge/check-pairs.ts';
import { rulesFor } from '../../judge/rules.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import { ExpectedError } from '../../errors/expected-error.ts';
import { CliError, ExitCode } from '../failure.ts';
import { isHelpRequested, helpText } from '../options/help-text.ts';
import { requestedRules, RULE_OPTIONS, VERDICT_OPTIONS } from '../options/judge-options.ts';
import { flag, integer, text, readOptions, type Options, type OptionValues } from '../options/options.ts';
import { publicAddress, shownArguments } from '../options/public-value.ts';
import { requestedRuns, withOwnNames, type ModelSource } from '../options/requested-runs.ts';
import { textVariantOf, RUN_OPTIONS } from '../options/run-options.ts';
import { RunSeries } from '../series/run-series.ts';
import { compareRuns } from './compare.ts';
import { modelSource } from './model-source.ts';
import { indexedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { things } from '../../../core/text/quantities.ts';
import { readFigures, storedFigures } from '../../judge/load-figures.ts';
import { preflight } from '../../judge/preflight.ts';
import { editRun } from '../../store/changes/edit-run.ts';
import type { RunStore } from '../../store/run-store.ts';
import { nearestNames } from '../../../core/text/nearest-names.ts';

const MAX_PAIRS = 200;
/** A spoiled pair leaves the comparison undecided; a client that is always saturated is not measured for hours. */
const REPEATS = 3;

export const OPTIONS = {
  a: text('URL', 'server A, the baseline; required', null),
  b: text('URL', 'server B, which is judged; required', null),
  pairs: integer(
    'pairs of runs (default: the fewest that can decide: 6 for one gating measure, 8 for five)',
    { min: 1, max: MAX_PAIRS },
    null,
  ),
  'repeat-pairs': integer(
    'most pairs that are measured again because the client was saturated or others used the servers',
    { min: 0, max: MAX_PAIRS },
    REPEATS,
  ),
  id: text('ID', 'name of the comparison; with the id of an interrupted one, its finished runs are used', null),
  'runs-dir': RUNS_DIR,
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  json: flag('short for --format json'),
};

const USAGE = 'llmbench ab --a URL --b URL [options] [options of run]';
const EXAMPLES = [
  'llmbench ab --a http://main:8000 --b http://candidate:8000 --model m --concurrency 16 --request-count 500 --isl 512 --osl 128',
  'llmbench ab --a http://main:8000 --b http://candidate:8000 --b-model m-fp8 --model m --concurrency 16 --request-count 500',
];
const NOTES =
  'Both servers are measured in interleaved pairs (AB BA BA AB …): the same requests within a pair, new texts in each pair.\n' +
  'All options of `llmbench run` apply to both sides; --a-NAME and --b-NAME apply to one side.\n' +
  'exit codes: 0 passed; 99 B has regressed; 1 a run failed; 2 invalid options; 130 Ctrl-C\n';

/** Measures two servers in interleaved pairs and compares them. */
export async function run(words: readonly string[]): Promise<number> {
  if (isHelpRequested(words)) {
    process.stdout.write(`${helpText(USAGE, OPTIONS, EXAMPLES)}\n${NOTES}`);
    return ExitCode.done;
  }
  const argv = await withOwnNames(words, { ...RUN_OPTIONS, ...OPTIONS });
  const { own, shared, a, b } = readAbArguments(OPTIONS, argv, process.env);
  const urls = { a: own.a, b: own.b };
  if (urls.a === null || urls.b === null) throw new CliError(`--a and --b are required: ${USAGE}`);
  const { primary, alpha } = rulesFor(requestedRules(own), []);
  const pairs = own.pairs ?? fewestPairs(primary.length, alpha);
  const id = own.id ?? createRunId(new Date());
  if (!isRunId(`${id}-${'0'.repeat(8)}`))
    throw new CliError(`--id is '${id}' and must be at most 55 letters, digits and dashes`);
  const sides = await completeSides({
    a: [...sharedWith(a, shared), ...a, '--url', urls.a],
    b: [...sharedWith(b, shared), ...b, '--url', urls.b],
  });
  // Of this comparison only: a cache may hold the texts of another on one of the servers.
  // A pair that is measured again has new texts as well.
  const textsOf = (pair: number, tryOfPair: number): string =>
    String(textVariantOf(`${id} ${pair}${tryOfPair === 0 ? '' : ` ${tryOfPair}`}`));
  const optionsOf: PairsPlan['optionsOf'] = (side, pair, tryOfPair, runId) => [
    ...[...sides[side], '--run-id', runId, '--runs-dir', own['runs-dir']],
    ...['--prompt-variant', textsOf(pair, tryOfPair)],
  ];
  for (const side of ['a', 'b'] as const) await refuseUnfit(optionsOf(side, 0, 0, id));
  const store = await storeOf(own['runs-dir']);
  process.stderr.write(`comparison ${id}: ${pairs} pairs, A ${publicAddress(urls.a)}, B ${publicAddress(urls.b)}\n`);
  const continued = (upTo: number): readonly string[] => [
    ...['llmbench', 'ab', ...shownArguments(continuingArguments(argv, id, upTo))],
  ];
  const runs = new PairRuns(id, await indexedRuns(store));
  const series = new RunSeries();
  let code: number | null;
  try {
    code = await measurePairs(store, runs, { series, pairs, repeats: own['repeat-pairs'], optionsOf });
  } finally {
    await series.end();
  }
  if (code !== null) {
    process.stderr.write(`the comparison is not complete; to continue it: ${shellCommand(continued(pairs))}\n`);
    return code;
  }
  const found = comparedRuns(runs, await indexedRuns(store), pairs);
  const different = [...a, ...b];
  if (different.length > 0)
    process.stderr.write(`options that differ on purpose: ${shownArguments(different).join(' ')}\n`);
  const accepted = different.length > 0 ? 'configuration' : 'none';
  return compareRuns(store, found, { ...own, paired: true, accepted, continued });
}

/** The shared options without the models when a side has its own: it does not add one to them. */
function sharedWith(side: readonly string[], shared: readonly string[]): readonly string[] {
  const isModel = (word: string | undefined): boolean => word === '--model' || word === '-m';
  if (!side.some((word) => isModel(word) || word.startsWith('--model='))) return shared;
  return shared.filter((word, i) => !isModel(word) && !word.startsWith('--model=') && !isModel(shared[i - 1]));
}

type Sides = Readonly<Record<PairSide, readonly string[]>>;

/** The options of both sides, with the model that a server lists if they name none. Throws a `CliError`. */
async function completeSides(sides: Sides): Promise<Sides> {
  const source = modelSource(process.env);
  const a = await listedModel('a', sides.a, source);
  const b = await listedModel('b', sides.b, source);
  if (a !== null && b !== null && a !== b)
    throw new CliError(
      `A serves ${a}, B serves ${b}: to compare different models, pass --a-model ${quoted(a)} --b-model ${quoted(b)}`,
    );
  const named = (model: string | null): readonly string[] => (model === null ? [] : ['--model', model]);
  return { a: [...sides.a, ...named(a)], b: [...sides.b, ...named(b)] };
}

/** The model that the server lists; null if the options name one. Throws a `CliError`. */
async function listedModel(side: PairSide, options: readonly string[], source: ModelSource): Promise<string | null> {
  const listed: string[] = [];
  const ask: ModelSource = async (request) => {
    listed.push(await source(request));
    return listed.at(-1) ?? '';
  };
  try {
    await requestedRuns(options, process.env, ask);
  } catch (error) {
    // The server is that of --a or --b here.
    if (!(error instanceof ExpectedError)) throw error;
    throw new ExpectedError(error.code, error.message.replace(/--url\b/, `--${side}`));
  }
  return listed[0] ?? null;
}

/** One run of each side must match the options. Throws a `CliError`. */
async function refuseUnfit(options: readonly string[]): Promise<void> {
  const { requests } = await requestedRuns(options, process.env);
  if (requests.length !== 1) throw new CliError('ab requires one load: without lists of loads and without a matrix');
}

/** The usable run of each side of each pair, in the order of the pairs. Throws a `CliError` when one has been deleted. */
function comparedRuns(
  runs: PairRuns,
  stored: readonly IndexedRun[],
  pairs: number,
): { readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] } {
  const byId = new Map(stored.map((run) => [run.run_id, run]));
  const ofSide = (side: PairSide): readonly IndexedRun[] =>
    Array.from({ length: pairs }, (_, pair) => {
      const id = runs.usable(pair, side)?.run_id ?? '';
      const found = byId.get(id);
      if (found === undefined) throw new CliError(`${id} is missing`, ExitCode.failed);
      return found;
    });
  return { a: ofSide('a'), b: ofSide('b') };
}

/** What another measurement can cure; a different load or configuration would be different again. */
const CURABLE: ReadonlySet<string> = new Set(['client', 'foreign_traffic']);

interface PairsPlan {
  /** Performs the runs. */
  readonly series: Pick<RunSeries, 'run'>;
  readonly pairs: number;
  /** The most pairs that are measured again. */
  readonly repeats: number;
  /** Options of `llmbench run` for a run of this name; each try of a pair has its own texts. */
  readonly optionsOf: (side: PairSide, pair: number, tryOfPair: number, runId: string) => readonly string[];
}

/**
 * Makes the runs that are missing, pair by pair. A pair whose client was saturated, or whose servers others used, is
 * discarded and measured again. Null when all are there; else the exit code of the run that failed.
 */
async function measurePairs(store: RunStore, runs: PairRuns, plan: PairsPlan): Promise<number | null> {
  for (let pair = 0; pair < plan.pairs; pair++) {
    for (;;) {
      const failed = await completePair(runs, pair, plan);
      if (failed !== null) return failed;
      const spoiled = await spoiledPair(store, runs, pair);
      if (spoiled === null) break;
      const { text, isRepeated } = decision(runs, plan);
      process.stderr.write(`pair ${pair + 1}: ${spoiled.sentence} ${text}\n`);
      if (!isRepeated) break;
      await discard(store, runs, spoiled.runIds);
    }
  }
  return null;
}

/** Measures the sides that have no usable run. Null, or the exit code of the run that failed. */
async function completePair(
  runs: PairRuns,
  pair: number,
  { pairs, series, optionsOf }: PairsPlan,
): Promise<number | null> {
  for (const side of orderOfPair(pair)) {
    if (runs.usable(pair, side) !== null) continue;
    const name = runs.nextName(pair, side);
    process.stderr.write(`\npair ${pair + 1} of ${pairs}, ${side.toUpperCase()}: run ${name}\n`);
    const { exitCode, result } = await series.run(optionsOf(side, pair, runs.discarded(pair), name));
    if (exitCode === ExitCode.interrupted) return exitCode;
    if (result?.status !== 'completed') return exitCode === ExitCode.done ? ExitCode.failed : exitCode;
    runs.set({ run_id: result.run_id, status: result.status, damage: null, tags: [] });
  }
  return null;
}

interface SpoiledPair {
  readonly sentence: string;
  /** A spoiled run is the last: if this process ends in between, what is left still shows that the pair is spoiled. */
  readonly runIds: readonly string[];
}

async function spoiledPair(store: RunStore, runs: PairRuns, pair: number): Promise<SpoiledPair | null> {
  const ids = (['a', 'b'] as const).flatMap((side) => runs.usable(pair, side)?.run_id ?? []);
  const [a, b] = await readFigures(storedFigures(store), ids);
  if (a === undefined || b === undefined) return null;
  const found = preflight([a], [b]).filter(({ check, outcome }) => CURABLE.has(check) && outcome === 'failed');
  if (found.length === 0) return null;
  const isSpoiled = (id: string): boolean => found.some(({ run_ids }) => run_ids.includes(id));
  return {
    sentence: found.map(({ sentence }) => sentence).join(' '),
    runIds: [...ids.filter((id) => !isSpoiled(id)), ...ids.filter(isSpoiled)],
  };
}

function decision(runs: PairRuns, { pairs, repeats }: PairsPlan): { text: string; isRepeated: boolean } {
  const repeated = Array.from({ length: pairs }, (_, pair) => runs.discarded(pair)).reduce((sum, n) => sum + n, 0);
  if (repeated >= repeats) {
    const why = repeats === 0 ? '--repeat-pairs is 0' : `${things(repeated, 'pairs')} have been (--repeat-pairs)`;
    return { text: `The pair is not measured again: ${why}.`, isRepeated: false };
  }
  const which = `repeat ${repeated + 1} of at most ${repeats}`;
  return {
    text: `The pair is measured again (${which}); its runs are kept with the tag ${DISCARDED_TAG}.`,
    isRepeated: true,
  };
}

async function discard(store: RunStore, runs: PairRuns, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    const { status, tags } = await editRun(store, runId, withDiscardedTag);
    runs.set({ run_id: runId, status, damage: null, tags });
  }
}

const withDiscardedTag = (run: RunFile): RunFile => ({
  ...run,
  tags: [...new Set([...run.tags, DISCARDED_TAG])].sort(),
});

/** The command line of `ab`, taken apart: its own options, those of every run, and those of one side. */
interface AbArguments<O extends Options> {
  readonly own: OptionValues<O>;
  /** Options of `llmbench run` for both sides, as they were given. */
  readonly shared: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
}

/** Options of `run` that `ab` decides itself, with what to use instead. */
const DECIDED: Readonly<Record<string, string>> = {
  url: 'use --a and --b',
  'run-id': 'use --id',
  'prompt-variant': 'each pair sends its own texts',
  'num-profile-runs': 'use --pairs',
  check: 'ab compares the runs itself',
  'accept-passed': 'a comparison changes no baseline',
  confirm: 'use --pairs',
  shard: 'a shard cannot be compared',
  'same-prompts': 'each pair sends its own texts',
  find: 'a search has one server',
};

/**
 * Takes the arguments apart: flags of `options` are the command's own, `--a-NAME value` and `--b-NAME value` are options of
 * `run` for one side, and everything else goes to every run. Throws a `CliError`.
 */
export function readAbArguments<O extends Options>(
  options: O,
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): AbArguments<O> {
  const own: string[] = [];
  const shared: string[] = [];
  const sides = { a: [] as string[], b: [] as string[] };
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const [, name = '', inline] = /^--([^=]+)(=.*)?$/s.exec(argument) ?? [];
    const [, side, sideName = ''] = /^(a|b)-(.+)$/.exec(name) ?? [];
    const takesValue = (known: Options, key: string): boolean =>
      known[key]?.value !== undefined && inline === undefined;
    if (Object.hasOwn(options, name)) {
      own.push(argument, ...(takesValue(options, name) ? argv.slice(++i, i + 1) : []));
    } else if (side !== undefined) {
      refuseDecided(sideName);
      if (!Object.hasOwn(RUN_OPTIONS, sideName))
        throw new CliError(`${argument} is not an option${similar(side, sideName)}`);
      const value = takesValue(RUN_OPTIONS, sideName) ? argv.slice(++i, i + 1) : [];
      sides[side === 'a' ? 'a' : 'b'].push(`--${sideName}${inline ?? ''}`, ...value);
    } else {
      refuseDecided(name);
      shared.push(argument);
    }
  }
  return { own: readOptions(options, own, environment), shared, ...sides };
}

function refuseDecided(name: string): void {
  const instead = Object.hasOwn(DECIDED, name) ? DECIDED[name] : undefined;
  if (instead !== undefined) throw new CliError(`--${name} cannot be used with ab: ${instead}`);
}

function similar(side: string, name: string): string {
  const [nearest] = nearestNames(name, Object.keys(RUN_OPTIONS), 1);
  return nearest === undefined
    ? '; `llmbench run --help-all` lists what may follow'
    : `; did you mean --${side}-${nearest}?`;
}

/** The arguments of a command that continues a comparison to this number of pairs. */
export function continuingArguments(argv: readonly string[], id: string, pairs: number): readonly string[] {
  const others = argv.filter((argument, i) => !/^--(id|pairs)(=|$)/.test(argument) && !isValueOf(argv[i - 1]));
  return [...others, '--pairs', String(pairs), '--id', id];
}

const isValueOf = (previous: string | undefined): boolean => previous === '--id' || previous === '--pairs';
