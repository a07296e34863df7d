import { breakdownOrder } from '../../../core/measures/breakdown.ts';
import { OUTCOMES } from '../../../core/run/record.ts';
import type { BreakdownKey, BreakdownResult, MeasureResult, Percentile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import { queryPrometheus, type PrometheusSeries, type PrometheusTarget } from '../prometheus/query-prometheus.ts';

const DIMENSIONS = ['model', 'turn'] as const;

/** Queries of the published results of a run by model and by turn, in the `rangeSeconds` before an instant. */
export function breakdownQueries(rangeSeconds: number, runId: string): PrometheusTarget[] {
  const range = `[${Math.max(1, Math.ceil(rangeSeconds))}s]`;
  return DIMENSIONS.map((by) => {
    const matchers = `__name__=~"llmbench_result_by_${by}_.+",${ofRun(runId)}`;
    return {
      refId: by,
      expr: `max by (${by}, measure, stat) (last_over_time({${matchers}}${range}))`,
      instant: true,
    };
  });
}

/** The counts of a running run by model and by turn, at an instant; none for a run with one model and without conversations. */
export function liveCountQueries(runId: string): PrometheusTarget[] {
  return DIMENSIONS.map((by) => ({
    refId: by,
    expr: `label_replace(${withMeasure(
      `sum by (${by}, outcome) (llmbench_by_${by}_requests_total{${ofRun(runId)}})`,
      'requests'
    )}, "stat", "$1", "outcome", "(.*)")`,
    instant: true,
  }));
}

const LIVE_LATENCIES = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;
const LIVE_PERCENTILES = { p50: 0.5, p99: 0.99 } as const;

/** The throughput and latencies of its populations by `by`, from its start to an instant. */
export function liveFigureQueries(by: BreakdownKey['by'], runId: string): PrometheusTarget[] {
  const run = ofRun(runId);
  const counter = (what: string, matchers = run) => `llmbench_by_${by}_${what}_total{${matchers}}`;
  const edge = (name: 'start' | 'end') => `llmbench_run_phase_${name}_timestamp_seconds{${run},phase="measure"} > 0`;
  const end = `(max(${edge('end')}) or max(timestamp(${counter('output_tokens')})))`;
  const perSecond = (count: string) =>
    `sum by (${by}) (${count}) / on () group_left () (${end} - min(${edge('start')}))`;
  const histogram = (measure: string) => {
    const family = `llmbench_by_${by}_${measure}_seconds`;
    const classic = `sum by (${by}, le) (${family}_bucket{${run}})`;
    return `${classic} or sum by (${by}) (${family}{${run}}) unless on (${by}) ${classic}`;
  };
  const figures = [
    withLabels(perSecond(counter('requests', `${run},outcome="ok"`)), 'request_throughput', 'value'),
    withLabels(perSecond(counter('output_tokens')), 'output_token_throughput', 'value'),
    ...LIVE_LATENCIES.flatMap((measure) =>
      Object.entries(LIVE_PERCENTILES).map(([name, quantile]) =>
        withLabels(`histogram_quantile(${quantile}, ${histogram(measure)})`, measure, name)
      )
    ),
  ];
  return [{ refId: by, expr: figures.join(' or '), instant: true }];
}

/** The populations of a running run: from the start of its measure phase to now. */
export async function liveBreakdown(uid: string, runId: string): Promise<BreakdownResult[]> {
  const to = Date.now();
  const query = (targets: PrometheusTarget[]) => queryPrometheus(uid, targets, { from: to - 60_000, to });
  const counts = await query(liveCountQueries(runId));
  const dimensions = DIMENSIONS.filter((by) => counts.some(({ refId }) => refId === by));
  const figures = dimensions.length === 0 ? [] : await query(dimensions.flatMap((by) => liveFigureQueries(by, runId)));
  return breakdownOfSeries([...counts, ...figures]);
}

const ofRun = (runId: string): string => `run_id=${JSON.stringify(runId)}`;

/** With the labels that published results have. */
function withLabels(expr: string, measure: string, stat: string): string {
  return `label_replace(${withMeasure(expr, measure)}, "stat", "${stat}", "", "")`;
}

const withMeasure = (expr: string, measure: string) => `label_replace(${expr}, "measure", "${measure}", "", "")`;

/** The populations of a run from these series, as far as they are published; what is not is null. */
export function breakdownOfSeries(series: readonly PrometheusSeries[]): BreakdownResult[] {
  const parts = new Map<string, BreakdownKey & { figures: Map<string, Map<string, number>> }>();
  for (const { refId, labels, values } of series) {
    const by = DIMENSIONS.find((each) => each === refId);
    const value = values.at(-1);
    const { measure = '', stat = '' } = labels;
    // A percentile of no observations is NaN.
    if (by === undefined || value === undefined || !Number.isFinite(value)) {
      continue;
    }
    const of = labels[by] ?? '';
    const part = parts.get(`${by} ${of}`) ?? { by, value: of, figures: new Map() };
    parts.set(`${by} ${of}`, part);
    part.figures.set(measure, (part.figures.get(measure) ?? new Map<string, number>()).set(stat, value));
  }
  return [...parts.values()]
    .sort((a, b) => breakdownOrder(a) - breakdownOrder(b) || a.value.localeCompare(b.value))
    .map(({ by, value, figures }) => ({
      by,
      value,
      requests: byName(OUTCOMES, (outcome) => figures.get('requests')?.get(outcome) ?? null),
      measures: [...figures].flatMap(([measure, stats]) => (measure === 'requests' ? [] : [measured(measure, stats)])),
    }));
}

/** A measure with the statistics that are published; its unit is that of the measure, which the tables know. */
function measured(measure: string, stats: ReadonlyMap<string, number>): MeasureResult {
  const stat = (name: string) => stats.get(name) ?? null;
  const identity = {
    measure,
    unit: 'seconds',
    definition: '',
    origin: 'client',
    population: 'ok',
    clock: 'sent',
  } as const;
  return stats.has('value')
    ? { ...identity, kind: 'scalar', value: stat('value') }
    : {
        ...identity,
        kind: 'distribution',
        n: null,
        effective_n: null,
        mean: stat('mean'),
        std: null,
        min: null,
        max: null,
        percentiles: byName<PercentileName, Percentile>(PERCENTILE_NAMES, (name) => ({
          value: stat(name),
          ci95: null,
          bounds: null,
        })),
      };
}

function byName<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}
