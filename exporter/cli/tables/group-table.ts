import { loadText } from '../../../core/run/load.ts';
import { shortTitle } from '../../../core/measures/names.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { overRepeats, type RepeatedStatistic } from '../../../core/run/repeats.ts';
import { loadKey } from '../../run/comparison-key.ts';
import type { PerformedRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { aligned, columnBlocks, type TableColumn } from './layout.ts';
import { ABSENT, quantity, significant, counted } from '../../../core/text/quantities.ts';
import { objectiveWords } from '../../../core/objectives/grammar.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/record.ts';
import type { SweepFigure, SweepEnd } from '../../../core/sweeps/sweep-figures.ts';
import { withinText, sweepNames } from '../../../core/sweeps/sweep-names.ts';
import type { Sweep, SweepStep } from '../../../core/sweeps/sweep-shape.ts';
import { OBJECTIVE_VERDICTS } from './result-table.ts';

/** A run of a group with its request. */
export interface GroupRun {
  readonly request: RunRequest;
  readonly performed: PerformedRun;
}

const COLUMNS = [
  ['request_throughput', 'value', 'requests/s'],
  ['output_token_throughput', 'value', 'tokens/s'],
  ...(['time_to_first_token', 'inter_token_latency'] as const).flatMap((measure) =>
    (['p50', 'p99'] as const).map((name) => [measure, name, shortTitle(measure, name)] as const),
  ),
  ['error_ratio', 'value', 'errors'],
] as const;

/** The runs of each step: all its repeats, in their order. */
function stepsOf(runs: readonly GroupRun[]): readonly (readonly GroupRun[])[] {
  return [...Map.groupBy(runs, ({ request }) => request.group?.step ?? 0).values()];
}

/** One line per step with the means over its repeats; with repeats, the spread follows. */
export function groupTable(runs: readonly GroupRun[]): string {
  const steps = stepsOf(runs);
  const head = ['load', 'runs', ...COLUMNS.map(([, , title]) => title)];
  const rows = steps.map((step) => {
    const statistics = overRepeats(step.map(({ performed }) => performed.result));
    return [loadOf(step), String(step.length), ...COLUMNS.map(([measure, stat]) => mean(statistics, measure, stat))];
  });
  const lines = aligned([head, ...rows]);
  return [...lines, ...spreadTables(runs)].join('\n');
}

/** Of each step with repeats their spread, after an empty line. */
export function spreadTables(runs: readonly GroupRun[]): string[] {
  return stepsOf(runs)
    .filter((step) => step.length > 1)
    .flatMap((step) => ['', ...spreadTable(step)]);
}

function spreadTable(step: readonly GroupRun[]): string[] {
  const statistics = overRepeats(step.map(({ performed }) => performed.result));
  const rows = COLUMNS.flatMap(([measure, stat, title]) => {
    const found = find(statistics, measure, stat);
    if (found?.ci95 == null) return [];
    const { unit, mean: middle, std, cv, ci95 } = found;
    const share = cv === null ? '' : `${significant(cv * 100)} %`;
    return [
      [
        title,
        quantity(middle, unit),
        quantity(std, unit),
        share,
        // None of them can be negative, but Student's t interval of a few runs can.
        `${quantity(Math.max(0, ci95[0]), unit)} to ${quantity(ci95[1], unit)}`,
      ],
    ];
  });
  return aligned([[`over ${step.length} runs at ${loadOf(step)}`, 'mean', 'std', 'cv', '95 % interval'], ...rows]);
}

/** The column head names the unit. */
const withoutUnit = (text: string): string => text.replace(/ (requests|tokens)\/s$/, '');

const loadOf = ([first]: readonly GroupRun[]): string => (first === undefined ? '' : requestText(first.request));

function mean(statistics: readonly RepeatedStatistic[], measure: string, stat: string): string {
  const found = find(statistics, measure, stat);
  return found === undefined ? ABSENT : withoutUnit(quantity(found.mean, found.unit));
}

function find(statistics: readonly RepeatedStatistic[], measure: string, stat: string): RepeatedStatistic | undefined {
  return statistics.find(
    (each) => each.measure === measure && each.stat === stat && each.clock === 'sent' && isUsual(each),
  );
}

/** Over ok requests; the error ratio is over all. */
const isUsual = ({ measure, population }: RepeatedStatistic): boolean =>
  population === 'ok' || measure === 'error_ratio';

/** What a run requests, in a few words: `concurrency 8, 512 in 128 out`. */
export function requestText({ measure, inputTokens, outputTokens }: RunRequest): string {
  return `${loadText(loadKey(measure.load))}, ${inputTokens} in ${outputTokens} out`;
}

/** The output of `--json` for several runs. */
interface GroupResult {
  readonly group_id: string | null;
  readonly runs: readonly ResultFile[];
  /** Per step, over its repeats. */
  readonly steps: readonly {
    readonly step: number | null;
    readonly run_ids: readonly string[];
    readonly statistics: readonly RepeatedStatistic[];
  }[];
}

export function groupResult(runs: readonly GroupRun[]): GroupResult {
  return {
    group_id: runs[0]?.request.group?.group_id ?? null,
    runs: runs.map(({ performed }) => performed.result),
    steps: stepsOf(runs).map((step) => {
      const results = step.map(({ performed }) => performed.result);
      return {
        step: step[0]?.request.group?.step ?? null,
        run_ids: results.map(({ run_id }) => run_id),
        statistics: overRepeats(results),
      };
    }),
  };
}

/** The latencies of the table, and their percentiles. */
const LATENCIES = ['time_to_first_token', 'inter_token_latency'] as const;
const PERCENTILES = ['p50', 'p99'] as const;

/**
 * One row per load of each sweep, for a terminal. A table that is wider than `width` continues in a second one below, so
 * that nothing is left out.
 */
export function sweepTable(sweeps: readonly Sweep[], width = Infinity): string {
  const names = sweepNames(sweeps);
  return sweeps
    .map((sweep, i) => [
      ...(sweeps.length > 1 ? [names[i] ?? ''] : []),
      ...columnBlocks(columnsOf(sweep), width),
      ...facts(sweep),
    ])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function columnsOf({ steps, load_mode, ...sweep }: Sweep): TableColumn[] {
  const column = (above: string, below: string, cell: (step: SweepStep) => string): TableColumn => ({
    head: [above, below],
    cells: steps.map(cell),
  });
  const seconds = (name: SweepFigure) => (step: SweepStep) => quantity(step.values[name]?.mean, 'seconds');
  const plain = (name: SweepFigure) => (step: SweepStep) => rate(step.values[name]?.mean);
  const has = (name: SweepFigure): boolean => steps.some(({ values }) => values[name] !== null);
  const isRepeated = steps.some(({ runs }) => runs.length > 1);
  return [
    column(
      load_mode === 'concurrency' ? 'concur-' : 'req/s',
      load_mode === 'concurrency' ? 'rency' : 'sent',
      (step) => `${significant(step.load)}${markOf(step, sweep)}`,
    ),
    ...(isRepeated ? [column('', 'runs', ({ runs }) => String(runs.length))] : []),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('', 'req/s', plain('request_throughput')),
    column('output', 'tok/s', plain('output_token_throughput')),
    ...LATENCIES.flatMap((measure) =>
      PERCENTILES.map((name) => column(shortTitle(measure), name, seconds(`${measure}_${name}`))),
    ),
    ...(has('goodput') ? [column('good', 'req/s', plain('goodput'))] : []),
    ...(steps.some(({ objective }) => objective !== null)
      ? [column('', 'SLO', ({ objective }) => (objective === null ? ABSENT : OBJECTIVE_VERDICTS[objective]))]
      : []),
  ];
}

/** A letter for the knee, a plus for the largest load within the objectives. */
function markOf({ load }: SweepStep, { knee, within_objective }: Pick<Sweep, 'knee' | 'within_objective'>): string {
  return `${within_objective?.holds === load ? ' +' : ''}${knee?.load === load ? ' k' : ''}`;
}

function facts({ steps, knee, within_objective: within }: Sweep): string[] {
  const isRepeated = steps.some(({ runs }) => runs.length > 1);
  const incomplete = steps.flatMap(({ runs }) => runs.filter(({ status }) => status !== 'completed'));
  const objectives = [...new Set(steps.flatMap(({ slos }) => slos.map(objectiveWords)))].join(', ');
  return [
    ...(within === null
      ? []
      : [`SLO         ${objectives}: ${within.holds === null ? '' : '+ '}${withinText(within)}`]),
    ...(knee === null ? [] : [`knee        k ${significant(knee.load)} (Kneedle)`]),
    ...(isRepeated ? ['values      means over the runs of a load'] : []),
    ...incomplete.map(({ run_id, status }) => `without     ${run_id}: ${status}`),
  ];
}

const rate = (value: number | undefined): string => (value === undefined ? ABSENT : significant(value));

const THROUGHPUTS = { output_token_throughput: 'output tokens', request_throughput: 'requests' } as const;

/** Why `--sweep auto` performs no further run. */
export function sweepEndLine(end: SweepEnd): string {
  switch (end.reason) {
    case 'saturated': {
      const [share, what] = [significant(Math.abs(end.gain) * 100), end.gain < 0 ? 'fewer' : 'more'];
      return `the sweep ends: twice the load gave ${share} % ${what} ${THROUGHPUTS[end.measure]} per second`;
    }
    case 'client saturated':
      return 'the sweep ends: the client is saturated; use --workers or several machines for higher loads';
    case 'no throughput':
      return 'the sweep ends: too few requests succeeded to measure a throughput';
  }
}
