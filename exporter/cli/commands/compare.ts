import { compare } from '../../judge/compare.ts';
import { comparisonOf } from '../../judge/comparison.ts';
import { loadExplanation } from '../../judge/explanation/load-explanation.ts';
import { loadFigures } from '../../judge/load-figures.ts';
import type { RunFigures } from '../../judge/run-figures.ts';
import type { VerdictName } from '../../judge/verdict.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { requestedRules, RULE_OPTIONS, VERDICT_OPTIONS } from '../options/judge-options.ts';
import { flag, readArguments, type OptionValues } from '../options/options.ts';
import { SELECTOR_HELP, selectedRuns } from '../options/run-selectors.ts';
import { nextCommand } from '../tables/next-command.ts';
import { verdictOutput } from '../tables/verdict-output.ts';
import { RUNS_DIR, storeOf } from './runs/stored-runs.ts';

const OPTIONS = {
  'runs-dir': RUNS_DIR,
  paired: flag('A and B are pairs, in their order by start: measured one right after the other with the same plan'),
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  json: flag('short for --format json'),
};

const USAGE = 'llmbench compare RUNS_A RUNS_B [options]';
const EXAMPLES = [
  'llmbench compare scenario:chat+tag:main scenario:chat+tag:candidate',
  'llmbench compare 20261121T19,20261121T20 latest --margin 3',
  'llmbench compare tag:before tag:after --gate time_to_first_token:p90 --gate output_token_throughput --format markdown',
];

/** Compares two sets of stored runs. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(`${helpText(USAGE, OPTIONS, EXAMPLES)}\n${SELECTOR_HELP}`);
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'sets of runs', most: 2 });
  const [a, b] = positionals;
  if (a === undefined || b === undefined) throw new CliError(`two sets of runs are required: ${USAGE}`);
  const store = await storeOf(values['runs-dir']);
  const sides = { a: await selectedRuns(store, a), b: await selectedRuns(store, b) };
  const both = sides.a.find((one) => sides.b.some(({ run_id }) => run_id === one.run_id));
  if (both !== undefined) throw new CliError(`${both.run_id} is in both sets`);
  return compareRuns(store, sides, values);
}

type CompareValues = { readonly configurationMayDiffer?: boolean } & Pick<
  OptionValues<typeof OPTIONS>,
  'runs-dir' | 'paired' | 'margin' | 'gate' | 'format' | 'undecided' | 'json'
>;

/** Judges, prints and returns the exit code; also the end of `ab`. Throws a `CliError`. */
export async function compareRuns(
  store: RunStore,
  sides: { readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] },
  options: CompareValues,
): Promise<number> {
  const [a, b] = alike(await figuresOf(store, sides.a), await figuresOf(store, sides.b), options);
  if (options.paired && a.length !== b.length) {
    throw new CliError(`--paired requires as many runs in A as in B; there are ${a.length} and ${b.length}`);
  }
  const judgment = compare(a, b, { paired: options.paired, rules: requestedRules(options, [...a, ...b]) });
  const failUndecided = options.undecided === 'fail';
  const next = nextCommand(judgment.needs, {
    scenario: judgment.scenario,
    urls: { a: sides.a[0]?.origin ?? null, b: sides.b[0]?.origin ?? null },
    runsDirectory: options['runs-dir'],
  });
  const format = options.json ? 'json' : options.format;
  const comparison = comparisonOf(judgment, [...a, ...b]);
  const explanation = await loadExplanation(store, judgment);
  process.stdout.write(verdictOutput(format, comparison, { next, failUndecided, explanation }));
  warnOpen(judgment.verdict, failUndecided);
  return exitCodeOf(judgment.verdict, failUndecided);
}

/** Where the configuration differs on purpose, that alone must not keep the runs from being compared. */
function alike(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  { configurationMayDiffer = false }: CompareValues,
): readonly [readonly RunFigures[], readonly RunFigures[]] {
  const fingerprint = a[0]?.fingerprint ?? '';
  return configurationMayDiffer ? [a, b.map((run) => ({ ...run, fingerprint }))] : [a, b];
}

async function figuresOf(store: RunStore, runs: readonly IndexedRun[]): Promise<readonly RunFigures[]> {
  const { runs: figures, unreadable } = await loadFigures(
    store,
    runs.map(({ run_id }) => run_id),
  );
  for (const [id, reason] of unreadable) throw new CliError(`${id} cannot be read: ${reason}`, ExitCode.failed);
  return figures;
}

/** An undecided verdict passes unless `--undecided fail` is set, but never silently. */
export function warnOpen(verdict: VerdictName, failUndecided: boolean): void {
  if ((verdict !== 'undecided' && verdict !== 'suspect') || failUndecided) return;
  process.stderr.write(`warning: the verdict is ${verdict}, which passes; use --undecided fail to fail on it\n`);
}

export function exitCodeOf(verdict: VerdictName, failUndecided: boolean): number {
  const fails = verdict === 'regressed' || (failUndecided && (verdict === 'undecided' || verdict === 'suspect'));
  return fails ? ExitCode.gate : ExitCode.done;
}
