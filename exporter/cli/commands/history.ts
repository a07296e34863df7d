import { measureOfName, publishedName, statisticTitle } from '../../../core/measures/names.ts';
import { ABSENT, quantity, things, changeText } from '../../../core/text/quantities.ts';
import { orderNotes } from '../../../core/text/run-order-notes.ts';
import type { HistoryChange } from '../../../core/api/scenarios.ts';
import { storedFigures } from '../../judge/load-figures.ts';
import type { PrimaryMeasure } from '../../judge/rules.ts';
import type { RunFigures } from '../../judge/run-figures.ts';
import { stateOf } from '../../judge/scenario-state.ts';
import {
  MAX_HISTORY_RUNS,
  scenarioHistory,
  type HistoryRun,
  type ScenarioHistory,
} from '../../judge/scenario-history.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { requestedRules, RULE_OPTIONS } from '../options/judge-options.ts';
import { flag, integer } from '../options/options.ts';
import { aligned } from '../tables/layout.ts';
import { acknowledgedText } from '../tables/verdict-text.ts';
import { startText } from './runs/run-listing.ts';
import { indexedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  limit: integer('number of the newest runs to show', { min: 1, max: MAX_HISTORY_RUNS }, 50),
  measure: RULE_OPTIONS.gate,
  margin: RULE_OPTIONS.margin,
  json: flag('print JSON'),
};

const USAGE = 'llmbench history SCENARIO [options]';
const EXAMPLES = [
  'llmbench history nightly',
  'llmbench history nightly --measure time_to_first_token:p99 --limit 200',
  'llmbench history nightly --json',
];

/** Shows the runs of a scenario in their order, with verdicts and change points. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'SCENARIO', max: 1 } },
  async ({ options: values, positionals }) => {
    const [scenario] = positionals;
    if (scenario === undefined) throw new CliError(`SCENARIO is required: ${USAGE}`);
    const store = await storeOf(values['runs-dir']);
    const stored = (await indexedRuns(store)).filter(
      (each) => each.scenario === scenario && each.damage === null && each.status === 'completed',
    );
    if (stored.length === 0) throw new CliError(`no completed run of scenario ${scenario} in ${store.place}`);
    const choices = requestedRules({ gate: values.measure, margin: values.margin });
    const source = { load: storedFigures(store), runsDirectory: store.directory };
    const ids = stored.map(({ run_id }) => run_id).reverse();
    const history = await scenarioHistory(source, scenario, ids, choices);
    for (const [id, reason] of history.unreadable) process.stderr.write(`${id} is not shown: ${reason}\n`);
    process.stdout.write(values.json ? json(history, values.limit) : table(history, values.limit));
    return ExitCode.done;
  },
);

function json({ scenario, runs, changes, verdicts, baseline }: ScenarioHistory, limit: number): string {
  const state = stateOf(verdicts.entries, baseline.entries);
  const shown = runs
    .slice(-limit)
    .map(({ run: figures, verdict, accepted, pinned }) => ({ ...figures, verdict, accepted, pinned }));
  const where = { state: state?.state ?? 'unjudged', open_regression: state?.open ?? null };
  return `${JSON.stringify({ scenario, ...where, runs: shown, change_points: changes }, null, 2)}\n`;
}

function table({ scenario, runs, rules, changes, verdicts, baseline }: ScenarioHistory, limit: number): string {
  const open = stateOf(verdicts.entries, baseline.entries)?.open ?? null;
  const measures = rules.primary;
  const rows = runs.slice(-limit);
  const head = ['run', 'start (UTC)', ...measures.map(titleOf), 'verdict', 'baseline'];
  const configurations = new Set(rows.map(({ run: { fingerprint } }) => fingerprint)).size;
  const lines = aligned([head, ...rows.map((each) => cells(each, measures))]);
  const marked = lines.flatMap((line, i) => [
    line,
    ...changes.filter(({ run_id }) => run_id === rows[i - 1]?.run.run_id).map(changeLine),
  ]);
  const notes = [
    ...(runs.length > rows.length ? [`${things(runs.length - rows.length, 'older runs')} not shown (--limit)`] : []),
    ...(configurations > 1
      ? [`the runs have ${configurations} configurations, which are not compared with each other`]
      : []),
    ...orderNotes(rows.map(({ run }) => run)),
  ];
  const headline = open === null ? scenario : `${scenario}: ${open.sentence}${acknowledgedText(open)}`;
  return `${[headline, '', ...marked, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}

function cells({ run, verdict, accepted, pinned }: HistoryRun, measures: readonly PrimaryMeasure[]): string[] {
  return [
    run.run_id,
    startText(run),
    ...measures.map((measure) => valueText(run, measure)),
    verdict ?? ABSENT,
    pinned ? 'pinned' : accepted ? 'accepted' : ABSENT,
  ];
}

function valueText({ figures }: RunFigures, { measure, stat }: PrimaryMeasure): string {
  const found = figures.find(
    (each) =>
      each.origin === 'client' &&
      publishedName(each) === measure &&
      each.stat === stat &&
      (each.population === 'ok' || stat === 'value'),
  );
  const value = found?.value ?? null;
  if (found === undefined || value === null || typeof value !== 'number') return ABSENT;
  return quantity(value, found.unit);
}

const titleOf = ({ measure, stat }: PrimaryMeasure): string => statisticTitle({ ...measureOfName(measure), stat });

function changeLine(change: HistoryChange): string {
  const direction = change.worse ? 'worse' : 'better';
  return `  ^ change point: ${statisticTitle(change)} ${direction} by ${changeText(change.ratio)} from here (p ${change.p.toPrecision(1)}, ${change.runs.before} runs before, ${change.runs.after} after)`;
}
