import { ABSENT, quantity } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';
import { readBaseline } from '../../judge/baseline.ts';
import { changePoints, type HistoryChange } from '../../judge/change-points.ts';
import { loadFigures } from '../../judge/load-figures.ts';
import { rulesFor } from '../../judge/rule-choices.ts';
import { nameOf, type PrimaryMeasure } from '../../judge/rules.ts';
import type { RunFigures } from '../../judge/run-figures.ts';
import { named } from '../../judge/sentences.ts';
import { readVerdicts } from '../../judge/verdict-log.ts';
import { CliError, ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { requestedRules, RULE_OPTIONS } from '../options/judge-options.ts';
import { flag, integer, readArguments } from '../options/options.ts';
import { aligned } from '../tables/aligned.ts';
import { changeText } from '../tables/change-text.ts';
import { indexedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';

const MOST_RUNS = 1000;

const OPTIONS = {
  'runs-dir': RUNS_DIR,
  limit: integer('number of the newest runs to show', { min: 1, max: MOST_RUNS }, 50),
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

/** What is known of a run in the history of its scenario. */
interface HistoryRow {
  readonly run: RunFigures;
  readonly verdict: string | null;
  readonly accepted: boolean;
  readonly pinned: boolean;
  readonly changes: readonly HistoryChange[];
}

/** Shows the runs of a scenario in their order, with verdicts and change points. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'SCENARIO', most: 1 });
  const [scenario] = positionals;
  if (scenario === undefined) throw new CliError(`SCENARIO is required: ${USAGE}`);
  const store = await storeOf(values['runs-dir']);
  const stored = (await indexedRuns(store)).filter(
    (each) => each.scenario === scenario && each.damage === null && each.status === 'completed',
  );
  if (stored.length === 0) throw new CliError(`no completed run of scenario ${scenario} in ${store.directory}`);
  const ids = stored.slice(0, MOST_RUNS).map(({ run_id }) => run_id);
  const { runs, unreadable } = await loadFigures(store, ids.reverse());
  for (const [id, reason] of unreadable) process.stderr.write(`${id} is not shown: ${reason}\n`);
  const rules = rulesFor(requestedRules({ gate: values.measure, margin: values.margin }), runs);
  const changes = sameConfiguration(runs).flatMap((alike) => changePoints(alike, { rules }));
  const baseline = await readBaseline(store.directory, scenario);
  const { entries } = await readVerdicts(store.directory, scenario);
  const verdicts = new Map(entries.flatMap(({ run_ids, verdict }) => run_ids.map((id) => [id, verdict] as const)));
  const rows = runs.slice(-values.limit).map((each): HistoryRow => ({
    run: each,
    verdict: verdicts.get(each.run_id) ?? null,
    accepted: baseline.accepted.includes(each.run_id),
    pinned: baseline.pinned.includes(each.run_id),
    changes: changes.filter(({ run_id }) => run_id === each.run_id),
  }));
  process.stdout.write(values.json ? json(scenario, rows, changes) : table(scenario, rows, rules.primary, runs.length));
  return ExitCode.done;
}

/** Runs of different configurations are histories of their own. */
function sameConfiguration(runs: readonly RunFigures[]): readonly (readonly RunFigures[])[] {
  return [...Map.groupBy(runs, ({ fingerprint }) => fingerprint).values()];
}

function json(scenario: string, rows: readonly HistoryRow[], changes: readonly HistoryChange[]): string {
  const runs = rows.map(({ run: figures, verdict, accepted, pinned }) => ({ ...figures, verdict, accepted, pinned }));
  return `${JSON.stringify({ scenario, runs, change_points: changes }, null, 2)}\n`;
}

function table(
  scenario: string,
  rows: readonly HistoryRow[],
  measures: readonly PrimaryMeasure[],
  all: number,
): string {
  const head = ['run', 'start (UTC)', ...measures.map(nameOfMeasure), 'verdict', 'baseline'];
  const configurations = new Set(rows.map(({ run: { fingerprint } }) => fingerprint)).size;
  const lines = aligned([head, ...rows.map((each) => cells(each, measures))]);
  const marked = lines.map((line, i) => [line, ...(rows[i - 1]?.changes ?? []).map(changeLine)]).flat();
  const notes = [
    ...(all > rows.length ? [`${things(all - rows.length, 'older runs')} not shown (--limit)`] : []),
    ...(configurations > 1
      ? [`the runs have ${configurations} configurations, which are not compared with each other`]
      : []),
  ];
  return `${[scenario, '', ...marked, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}

function cells({ run, verdict, accepted, pinned }: HistoryRow, measures: readonly PrimaryMeasure[]): string[] {
  return [
    run.run_id,
    run.start?.replace('T', ' ').slice(0, 16) ?? ABSENT,
    ...measures.map((measure) => valueText(run, measure)),
    verdict ?? ABSENT,
    pinned ? 'pinned' : accepted ? 'accepted' : ABSENT,
  ];
}

function valueText({ figures }: RunFigures, { measure, stat }: PrimaryMeasure): string {
  const found = figures.find(
    (each) =>
      each.origin === 'client' &&
      nameOf(each) === measure &&
      each.stat === stat &&
      (each.population === 'ok' || stat === 'value'),
  );
  const value = found?.value ?? null;
  if (found === undefined || value === null || typeof value !== 'number') return ABSENT;
  return quantity(value, found.unit);
}

const nameOfMeasure = ({ measure, stat }: PrimaryMeasure): string =>
  stat === 'value' ? measure : `${measure} ${stat}`;

function changeLine(change: HistoryChange): string {
  const direction = change.worse ? 'worse' : 'better';
  return `  ^ change point: ${named(change)} ${direction} by ${changeText(change.ratio)} from here (p ${change.p.toPrecision(1)}, ${change.runs.before} runs before, ${change.runs.after} after)`;
}
