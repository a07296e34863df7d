import { loadText } from '../../../core/run/load.ts';
import { shortTitle } from '../../../core/measures/names.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { overRepeats, type RepeatedStatistic } from '../../../core/run/repeats.ts';
import { loadKey } from '../../run/comparison-key.ts';
import type { PerformedRun } from '../../run/perform-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { aligned } from './layout.ts';
import { ABSENT, quantity, significant } from '../../../core/text/quantities.ts';

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
export function stepsOf(runs: readonly GroupRun[]): readonly (readonly GroupRun[])[] {
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
export interface GroupResult {
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
