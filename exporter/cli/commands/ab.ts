import { createRunId, isRunId } from '../../../core/run/run-id.ts';
import { fewestPairs } from '../../../core/stats/fewest-runs.ts';
import { shellCommand } from '../../../core/text/shell-word.ts';
import { rulesFor } from '../../judge/rule-choices.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { orderOfPair, readAbArguments } from '../options/ab-options.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { requestedRules, RULE_OPTIONS, VERDICT_OPTIONS } from '../options/judge-options.ts';
import { flag, integer, text } from '../options/options.ts';
import { requestedRuns } from '../options/requested-runs.ts';
import { textVariantOf } from '../options/run-options.ts';
import { SERVER_LISTS } from '../options/server-options.ts';
import { spreadLists } from '../options/value-lists.ts';
import { runInChild } from '../run-in-child.ts';
import { shownArguments } from '../tables/shown-arguments.ts';
import { compareRuns } from './compare.ts';
import { indexedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';

const MOST_PAIRS = 200;

const OPTIONS = {
  a: text('URL', 'server A, the baseline; required', null),
  b: text('URL', 'server B, which is judged; required', null),
  pairs: integer(
    'pairs of runs (default: the fewest that can decide: 6 for one gating measure, 8 for five)',
    { min: 1, max: MOST_PAIRS },
    null,
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

type Side = 'a' | 'b';
type RunOptionsOf = (side: Side, pair: number, runId: string) => readonly string[];

/** Measures two servers in interleaved pairs and compares them. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(`${helpText(USAGE, OPTIONS, EXAMPLES)}\n${NOTES}`);
    return ExitCode.done;
  }
  const { own, shared, a, b } = readAbArguments(OPTIONS, argv, process.env);
  const urls = { a: own.a, b: own.b };
  if (urls.a === null || urls.b === null) throw new CliError(`--a and --b are required: ${USAGE}`);
  const { primary, alpha } = rulesFor(requestedRules(own), []);
  const pairs = own.pairs ?? fewestPairs(primary.length, alpha);
  const id = own.id ?? createRunId(new Date());
  if (!isRunId(`${id}-${'0'.repeat(8)}`))
    throw new CliError(`--id is '${id}' and must be at most 55 letters, digits and dashes`);
  const sides = { a: [...shared, ...a, '--url', urls.a], b: [...shared, ...b, '--url', urls.b] };
  // Of this comparison only: a cache may hold the texts of another on one of the servers.
  const textsOf = (pair: number): string => String(textVariantOf(`${id} ${pair}`));
  const optionsOf: RunOptionsOf = (side, pair, runId) => [
    ...[...sides[side], '--run-id', runId, '--runs-dir', own['runs-dir'], '--prompt-variant', textsOf(pair)],
  ];
  for (const side of ['a', 'b'] as const) await refuseUnfit(optionsOf(side, 0, id));
  const store = await storeOf(own['runs-dir']);
  process.stderr.write(`comparison ${id}: ${pairs} pairs, A ${urls.a}, B ${urls.b}\n`);
  const code = await measurePairs(store, id, pairs, optionsOf);
  if (code !== null) {
    const resume = shellCommand([
      ...['llmbench', 'ab', ...shownArguments(argv)],
      ...(own.id === null ? ['--id', id] : []),
    ]);
    process.stderr.write(`the comparison is not complete; to continue it: ${resume}\n`);
    return code;
  }
  const found = await finishedPairs(store, id, pairs);
  const different = [...a, ...b];
  if (different.length > 0)
    process.stderr.write(`options that differ on purpose: ${shownArguments(different).join(' ')}\n`);
  return compareRuns(store, found, { ...own, paired: true, configurationMayDiffer: different.length > 0 });
}

/** One run of each side must match the options. Throws a `CliError`. */
async function refuseUnfit(options: readonly string[]): Promise<void> {
  const { requests } = await requestedRuns(spreadLists(options, SERVER_LISTS), process.env);
  if (requests.length !== 1) throw new CliError('ab requires one load: without lists of loads and without a matrix');
}

/** Makes the runs that are missing, pair by pair. Null when all are there; else the exit code of the run that failed. */
async function measurePairs(
  store: RunStore,
  id: string,
  pairs: number,
  optionsOf: RunOptionsOf,
): Promise<number | null> {
  for (let pair = 0; pair < pairs; pair++) {
    for (const side of orderOfPair(pair)) {
      const taken = await runsOf(store, id, pair, side);
      if (taken.some(isUsable)) continue;
      const name = runName(id, pair, side, taken.length);
      process.stderr.write(`\npair ${pair + 1} of ${pairs}, ${side.toUpperCase()}: run ${name}\n`);
      const { exitCode, result } = await runInChild(optionsOf(side, pair, name));
      if (exitCode === ExitCode.interrupted) return exitCode;
      if (result?.status !== 'completed') return exitCode === ExitCode.done ? ExitCode.failed : exitCode;
    }
  }
  return null;
}

const isUsable = ({ status, damage }: IndexedRun): boolean => status === 'completed' && damage === null;

/** `ID-03b`; the second try of a run is `ID-03b-2`. */
function runName(id: string, pair: number, side: Side, tries: number): string {
  return `${id}-${String(pair + 1).padStart(2, '0')}${side}${tries === 0 ? '' : `-${tries + 1}`}`;
}

async function runsOf(store: RunStore, id: string, pair: number, side: Side): Promise<readonly IndexedRun[]> {
  const first = runName(id, pair, side, 0);
  return (await indexedRuns(store)).filter(({ run_id }) => run_id === first || run_id.startsWith(`${first}-`));
}

/** The usable run of each side of each pair, in the order of the pairs. */
async function finishedPairs(
  store: RunStore,
  id: string,
  pairs: number,
): Promise<{ readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] }> {
  const found = { a: [] as IndexedRun[], b: [] as IndexedRun[] };
  for (let pair = 0; pair < pairs; pair++) {
    for (const side of ['a', 'b'] as const) {
      const usable = (await runsOf(store, id, pair, side)).find(isUsable);
      if (usable === undefined) throw new CliError(`${runName(id, pair, side, 0)} is missing`, ExitCode.failed);
      found[side].push(usable);
    }
  }
  return found;
}
