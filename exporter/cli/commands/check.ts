import { createRunId } from '../../../core/run/run-id.ts';
import { checkScenario, PASSED, type CheckedScenario } from '../../judge/check-scenario.ts';
import { checkPairs } from '../../judge/check-pairs.ts';
import { percentText } from '../../../core/text/quantities.ts';
import { decisiveOf } from '../../judge/history.ts';
import type { ScenarioState } from '../../judge/scenario-state.ts';
import { verdictReport, type ReportedRun } from '../../judge/verdict-report.ts';
import { readBaseline } from '../../judge/baseline.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import { newestRuns } from '../../store/index/select-runs.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { CHECK_OPTIONS, requestedAuthor, requestedRules } from '../options/judge-options.ts';
import { VERDICT_RECEIVER_OPTIONS, type RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { flag, text, type OptionValues } from '../options/options.ts';
import { SELECTOR_HELP, selectedRuns, RUNS_DIR, indexedRuns, selecting, storeOf } from './runs/stored-runs.ts';
import { STORAGE_OPTIONS, storageAccess } from '../options/storage-options.ts';
import { RunSeries, type RunInChild } from '../series/run-series.ts';
import { printVerdict } from '../tables/verdict-output.ts';
import { pushScenario, requestedVerdictReceiver } from '../scenario-series.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  ...STORAGE_OPTIONS,
  scenario: text('NAME', 'judge the newest run of this scenario', null),
  ...CHECK_OPTIONS,
  ...VERDICT_RECEIVER_OPTIONS,
  json: flag('short for --format json'),
};

export type CheckOptions = OptionValues<typeof CHECK_OPTIONS & typeof RECEIVER_OPTIONS> & {
  readonly 'runs-dir': string;
  readonly json: boolean;
};

const USAGE = 'llmbench check [RUNS] [options] [-- OPTIONS OF RUN]';
const EXAMPLES = [
  'llmbench check --scenario nightly',
  'llmbench check latest --accept-passed --format markdown > comment.md',
  'llmbench check --scenario nightly --confirm 3 -- --url http://llm:8000 --model m --concurrency 8 --request-count 500',
];
const EXIT_CODES =
  'exit codes: 0 passed (undecided and suspect pass with a warning unless --undecided fail); 99 a regression is open;\n' +
  '            1 a run or the baseline cannot be read; 2 invalid options\n';
const TEXT = {
  ...{ usage: USAGE, examples: EXAMPLES, notes: `${SELECTOR_HELP}\n${EXIT_CODES}` },
  positionals: { name: 'selections of runs', max: 1 },
};

/** Judges the newest run, or the named ones, against the baseline of their scenario. */
export function run(argv: readonly string[]): Promise<number> {
  const split = argv.indexOf('--');
  return split < 0 ? judgeRuns([])(argv) : judgeRuns(argv.slice(split + 1))(argv.slice(0, split));
}

const judgeRuns = (runOptions: readonly string[]) =>
  command(OPTIONS, TEXT, async ({ options: values, positionals }) => {
    if (values.confirm > 0 && runOptions.length === 0)
      throw new CliError('--confirm requires the options of `llmbench run` after --');
    const store = await storeOf(values['runs-dir'], storageAccess(values));
    const { scenario, runIds } = await requestedRuns(store, positionals[0] ?? null, values.scenario);
    return checkRuns(store, scenario, runIds, values, runOptions);
  });

/**
 * Judges these runs, makes confirming ones if that was requested, prints the verdict and returns the exit code; also what
 * `run --check` does at its end. `runOptions` are the options of `llmbench run` for confirming runs.
 */
export async function checkRuns(
  store: RunStore,
  scenario: string,
  runIds: readonly string[],
  options: CheckOptions,
  runOptions: readonly string[],
): Promise<number> {
  const receiver = await requestedVerdictReceiver(options);
  const first = await check(store, scenario, runIds, options);
  const series = new RunSeries();
  let checked: CheckedScenario | null;
  try {
    checked = await confirmed(store, first, options, (own) => series.run([...runOptions, ...own]));
  } finally {
    await series.end();
  }
  if (checked === null) return ExitCode.interrupted;
  const code = await printed(store, checked, options);
  await pushScenario(store, scenario, receiver);
  return code;
}

/** What is known after the confirming runs that a suspect run requires; null: the user interrupted one. Throws a `CliError`. */
async function confirmed(
  store: RunStore,
  first: CheckedScenario,
  options: CheckOptions,
  perform: (own: readonly string[]) => Promise<RunInChild>,
): Promise<CheckedScenario | null> {
  const { scenario } = first;
  let checked = first;
  for (let made = 0; made < options.confirm && checked.judgment.verdict === 'suspect'; made++) {
    process.stderr.write(`\nthe run looks suspect: confirming run ${made + 1} of up to ${options.confirm}\n`);
    // An ID of the first run, from wherever it was set, is not theirs.
    const own = ['--scenario', scenario, '--runs-dir', options['runs-dir'], '--run-id', createRunId(new Date())];
    const { exitCode, result } = await perform(own);
    if (exitCode === ExitCode.interrupted) return null;
    if (result?.status !== 'completed') {
      throw new CliError(
        `a confirming run ended with exit code ${exitCode}; the verdict stays suspect`,
        ExitCode.failed,
      );
    }
    checked = await check(store, scenario, [result.run_id], options);
  }
  return checked;
}

async function check(
  store: RunStore,
  scenario: string,
  runIds: readonly string[],
  options: CheckOptions,
): Promise<CheckedScenario> {
  return checkScenario(store, {
    ...{ scenario, runIds, acceptPassed: options['accept-passed'] },
    ...{ rules: requestedRules(options), author: requestedAuthor(options, process.env), detect: options.detect },
  });
}

/** The runs to judge and their scenario, oldest first. */
async function requestedRuns(
  store: RunStore,
  selector: string | null,
  scenario: string | null,
): Promise<{ readonly scenario: string; readonly runIds: readonly string[] }> {
  const selected = selector === null ? await newestRun(store, scenario) : await selectedRuns(store, selector);
  const runs = await notAccepted(store, selected, selector);
  const names = [...new Set(runs.map((each) => each.scenario))];
  const [only] = names;
  if (only === null || only === undefined || names.length > 1 || (scenario !== null && only !== scenario)) {
    throw new CliError(
      `the runs must be of one scenario${scenario === null ? '' : `, ${scenario}`}; they are of ${names.map(String).join(', ')}`,
    );
  }
  const unfit = runs.find(({ status }) => status !== 'completed');
  if (unfit !== undefined)
    throw new CliError(
      `${unfit.run_id} is ${unfit.status ?? 'damaged'}: only completed runs are judged`,
      ExitCode.failed,
    );
  return { scenario: only, runIds: runs.map(({ run_id }) => run_id) };
}

/** Without the accepted runs that are not named by their ids: what is normal is not judged by accident. Throws a `CliError`. */
async function notAccepted(
  store: RunStore,
  selected: readonly IndexedRun[],
  selector: string | null,
): Promise<readonly IndexedRun[]> {
  const ids = (selector ?? '').split(',').filter((word) => word !== 'latest' && word !== '');
  const accepted = new Set<string>();
  for (const name of new Set(selected.map(({ scenario }) => scenario)))
    if (name !== null) for (const id of (await readBaseline(store.directory, name)).accepted) accepted.add(id);
  const isNamed = ({ run_id }: IndexedRun): boolean => ids.some((id) => run_id.startsWith(id));
  const left = selected.filter((run) => !accepted.has(run.run_id) || isNamed(run));
  const newest = selected.at(-1);
  if (left.length === 0 && newest !== undefined) {
    throw new CliError(
      `nothing to judge: ${newest.run_id} is in the baseline of its scenario; to judge it all the same: llmbench check ${newest.run_id}`,
      ExitCode.failed,
    );
  }
  return left;
}

async function newestRun(store: RunStore, scenario: string | null): Promise<readonly IndexedRun[]> {
  const runs = await indexedRuns(store);
  const fitting = runs.filter((each) => each.damage === null && (scenario === null || each.scenario === scenario));
  if (fitting.length === 0) {
    throw new CliError(`no run${scenario === null ? '' : ` of scenario ${scenario}`} in ${store.place}`);
  }
  return selecting(store, () => newestRuns(fitting, 1, 'the newest run'));
}

function reportedIn(stored: readonly IndexedRun[]): (ids: readonly string[]) => readonly ReportedRun[] {
  const byId = new Map(stored.map((run) => [run.run_id, run]));
  return (ids) => ids.map((run_id) => byId.get(run_id) ?? { run_id, tool: null, origin: null });
}

async function printed(store: RunStore, checked: CheckedScenario, options: CheckOptions): Promise<number> {
  const { judgment, scenario, fingerprint, runIds, acceptedRunIds, figures, stored, state, notes } = checked;
  for (const note of notes) process.stderr.write(`${note}\n`);
  const decisive = decisiveOf(judgment);
  const reported = reportedIn(stored);
  const others = stored.filter(
    (run) => run.status === 'completed' && run.scenario === scenario && run.fingerprint === fingerprint,
  );
  // Of runs that were left out of a baseline, it is not known whether they are normal.
  const acceptable = decisive.runs.a.length > 0 ? 0 : others.filter(({ run_id }) => !runIds.includes(run_id)).length;
  const { verdict, sentence, needs, anchor } = judgment;
  const report = await verdictReport(
    store,
    { ...decisive, verdict, sentence, needs },
    { a: reported(decisive.runs.a), b: reported(runIds), figures, acceptable, runsDirectory: options['runs-dir'] },
  );
  const where = { state: state?.state ?? 'unjudged', open_regression: state?.open ?? null };
  const code = printVerdict({ ...report, ...where, ...{ accepted_run_ids: acceptedRunIds, anchor } }, options);
  if (acceptedRunIds.length > 0 || (options['accept-passed'] && PASSED.has(judgment.verdict))) {
    process.stderr.write(acceptedLine(scenario, acceptedRunIds));
  }
  if (state?.newest?.blind === true) process.stderr.write(blindWarning(state));
  return code;
}

export const acceptedLine = (scenario: string, runIds: readonly string[]): string =>
  `accepted into the baseline of ${scenario}: ${runIds.join(', ') || 'nothing new'}\n`;

/** Judges slices in pairs, prints the verdict and returns the exit code. Throws an `ExpectedError`. */
export async function checkPairsOf(
  store: RunStore,
  scenario: string,
  { a, b }: { readonly a: readonly string[]; readonly b: readonly string[] },
  options: Omit<CheckOptions, 'confirm' | 'accept-passed'>,
): Promise<number> {
  const receiver = await requestedVerdictReceiver(options);
  const { judgment, figures, stored, state } = await checkPairs(store, {
    ...{ scenario, a, b, detect: options.detect },
    ...{ rules: requestedRules(options), author: requestedAuthor(options, process.env) },
  });
  const reported = reportedIn(stored);
  const report = await verdictReport(store, judgment, {
    ...{ a: reported(judgment.runs.a), b: reported(judgment.runs.b), figures, runsDirectory: options['runs-dir'] },
  });
  const where = { state: state?.state ?? 'unjudged', open_regression: state?.open ?? null };
  const code = printVerdict({ ...report, ...where, accepted_run_ids: [], anchor: null }, options);
  await pushScenario(store, scenario, receiver);
  return code;
}

/** That the check could not see what it has to. */
function blindWarning({ newest, baseline: { detect = null } }: ScenarioState): string {
  const detectable = newest?.detectable ?? null;
  if (detect === null || detectable === null) return '';
  return `warning: the scenario has to detect +${percentText(detect)}, and this check could see +${percentText(detectable)}\n`;
}
