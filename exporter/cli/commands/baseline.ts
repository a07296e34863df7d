import { things } from '../../../core/text/quantities.ts';
import { baselineSight, outlierNotes, sightText, baselineWindow } from '../../judge/baseline-sight.ts';
import { changeBaseline, readBaseline, refusedChange } from '../../judge/baseline.ts';
import { BASELINE_ACTIONS, type BaselineAction } from '../../../core/api/scenarios.ts';
import { storedFigures } from '../../judge/load-figures.ts';
import { rulesFor } from '../../judge/rules.ts';
import { recordChange } from '../../judge/scenario-state.ts';
import { quoted } from '../../../core/text/words.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import {
  AUTHOR_OPTION,
  DETECT_OPTION,
  requestedAuthor,
  requestedRules,
  RULE_OPTIONS,
} from '../options/judge-options.ts';
import { flag, text, type OptionValues } from '../options/options.ts';
import { VERDICT_RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { STORAGE_OPTIONS, storageAccess } from '../options/storage-options.ts';
import { SELECTOR_HELP, selectedRuns, RUNS_DIR, indexedRuns, storeOf } from './runs/stored-runs.ts';
import { pushScenario, requestedVerdictReceiver } from '../scenario-series.ts';
import { aligned } from '../tables/layout.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  ...STORAGE_OPTIONS,
  reason: text('TEXT', 'why the baseline changes; required by drop', null),
  ...DETECT_OPTION,
  ...RULE_OPTIONS,
  ...AUTHOR_OPTION,
  ...VERDICT_RECEIVER_OPTIONS,
  json: flag('print JSON'),
};

const USAGE = 'llmbench baseline (show SCENARIO | accept RUNS | pin RUNS | unpin RUNS | drop RUNS) [options]';
const EXAMPLES = [
  'llmbench baseline accept scenario:nightly+last:20 --reason "first baseline"',
  'llmbench baseline show nightly',
  'llmbench baseline pin tag:release-1.4 --reason "anchor against slow drift"',
  'llmbench baseline drop 20261121T190000Z-abcdefghij --reason "measured during maintenance"',
];

/** Shows or changes what is normal for a scenario. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, notes: SELECTOR_HELP, positionals: { name: 'arguments', max: 2 } },
  async ({ options: values, positionals }) => {
    const [verb, subject] = positionals;
    const action = BASELINE_ACTIONS.find((each) => each === verb);
    if (subject === undefined || (action === undefined && verb !== 'show')) throw new CliError(`usage: ${USAGE}`);
    const store = await storeOf(values['runs-dir'], storageAccess(values));
    try {
      return action === undefined ? await show(store, subject, values) : await change(store, action, subject, values);
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(
        `the baseline cannot be ${action === undefined ? 'read' : 'changed'}: ${reasonOf(error)}`,
        ExitCode.failed,
      );
    }
  },
);

async function change(
  store: RunStore,
  action: BaselineAction,
  selector: string,
  options: OptionValues<typeof OPTIONS>,
): Promise<number> {
  if (action === 'drop' && (options.reason ?? '').trim() === '') {
    throw new CliError('--reason is required: the baseline keeps why a run was dropped');
  }
  const runs = await selectedRuns(store, selector);
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const [scenario] = scenarios;
  if (scenario === null || scenario === undefined || scenarios.length > 1) {
    throw new CliError(`the runs must be of one scenario; they are of ${scenarios.map(String).join(', ')}`);
  }
  const refused = refusedChange(scenario, action, runs);
  if (refused !== null) throw new CliError(refused);
  const author = requestedAuthor(options, process.env);
  const receiver = await requestedVerdictReceiver(options);
  const run_ids = runs.map(({ run_id }) => run_id);
  await recordChange(store, { scenario, action, run_ids, author, reason: options.reason });
  const { detect } = options;
  if (detect !== null)
    await changeBaseline(store, { scenario, action: 'detect', run_ids: [], author, reason: null, detect });
  const { accepted, pinned } = await readBaseline(store.directory, scenario);
  const state = { scenario, action, run_ids, accepted: accepted.length, pinned: pinned.length };
  process.stdout.write(
    options.json
      ? `${JSON.stringify(state)}\n`
      : `${PAST[action]} ${things(run_ids.length, 'runs')}; the baseline of ${scenario} has ${things(accepted.length, 'runs')}, ${pinned.length} pinned\n`,
  );
  if (action === 'accept')
    process.stderr.write((await seenOf(store, scenario, options)).map((line) => `${line}\n`).join(''));
  await pushScenario(store, scenario, receiver);
  return ExitCode.done;
}

/** What checks against the baseline can see, and the accepted runs that are unlike the others; one line each. */
async function seenOf(
  store: RunStore,
  scenario: string,
  options: OptionValues<typeof OPTIONS>,
): Promise<readonly string[]> {
  const { accepted, levels, detect } = await readBaseline(store.directory, scenario);
  const stored = (await indexedRuns(store)).filter((run) => run.scenario === scenario);
  const isAccepted = new Set(accepted);
  const newest = stored.find(({ run_id }) => isAccepted.has(run_id));
  const used = baselineWindow(stored, isAccepted, newest?.fingerprint ?? '');
  const { runs } = await storedFigures(store)(used);
  const rules = rulesFor(requestedRules(options), runs);
  const sight = baselineSight(runs, rules, { wanted: detect, levels });
  return [...(sight === null ? [] : [sightText(sight)]), ...outlierNotes(runs, rules, levels)];
}

const PAST: Readonly<Record<BaselineAction, string>> = {
  accept: 'accepted',
  drop: 'dropped',
  pin: 'pinned',
  unpin: 'unpinned',
};

async function show(store: RunStore, scenario: string, options: OptionValues<typeof OPTIONS>): Promise<number> {
  const baseline = await readBaseline(store.directory, scenario);
  for (const line of baseline.damagedLines)
    process.stderr.write(`baseline.jsonl: line ${line} cannot be read and is ignored\n`);
  if (options.json) {
    const { levels, ...plain } = baseline;
    process.stdout.write(`${JSON.stringify({ ...plain, levels: Object.fromEntries(levels) }, null, 2)}\n`);
    return ExitCode.done;
  }
  if (baseline.entries.length === 0) {
    const known = new Set((await indexedRuns(store)).map((each) => each.scenario));
    if (!known.has(scenario)) throw new CliError(`no run of scenario ${scenario} in ${store.place}`);
    const directory = options['runs-dir'] === 'runs' ? '' : ` --runs-dir ${quoted(options['runs-dir'])}`;
    process.stdout.write(
      `${scenario} has no baseline; accept runs with: llmbench baseline accept ${quoted(`scenario:${scenario}`)}${directory}\n`,
    );
    return ExitCode.done;
  }
  const { accepted, pinned, entries } = baseline;
  const rows = entries.map(({ at, action, run_ids, author, reason }) => [
    at.replace('T', ' ').replace(/\.\d+Z$/, ''),
    action,
    run_ids.length === 1 ? (run_ids[0] ?? '') : things(run_ids.length, 'runs'),
    author ?? '–',
    reason ?? '–',
  ]);
  const state = `${scenario}: ${things(accepted.length, 'runs')} accepted, ${pinned.length} pinned`;
  const pins = pinned.map((id) => `pinned      ${id}`);
  const seen = (await seenOf(store, scenario, options)).flatMap((line) => ['', line]);
  const table = aligned([['changed (UTC)', 'action', 'runs', 'author', 'reason'], ...rows]);
  process.stdout.write(
    `${[state, ...accepted.map((id) => `accepted    ${id}`), ...pins, ...seen, '', ...table].join('\n')}\n`,
  );
  return ExitCode.done;
}
