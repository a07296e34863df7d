import { breakdownOrder } from '../../../core/measures/breakdown.ts';
import { OUTCOMES } from '../../../core/run/record.ts';
import type { BreakdownKey, BreakdownResult, MeasureResult, Percentile } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES, type PercentileName } from '../../../core/stats/percentiles.ts';
import type { PrometheusSeries, PrometheusTarget } from '../prometheus/query-prometheus.ts';

const DIMENSIONS = ['model', 'turn'] as const;

/** Queries of the published results of a run by model and by turn, in the `rangeSeconds` before an instant. */
export function breakdownQueries(rangeSeconds: number, runId: string): PrometheusTarget[] {
  const range = `[${Math.max(1, Math.ceil(rangeSeconds))}s]`;
  return DIMENSIONS.map((by) => {
    const matchers = `__name__=~"llmbench_result_by_${by}_.+",run_id=${JSON.stringify(runId)}`;
    return {
      refId: by,
      expr: `max by (${by}, measure, stat) (last_over_time({${matchers}}${range}))`,
      instant: true,
    };
  });
}

/** The populations of a run from these series, as far as they are published; what is not is null. */
export function breakdownOfSeries(series: readonly PrometheusSeries[]): BreakdownResult[] {
  const parts = new Map<string, BreakdownKey & { figures: Map<string, Map<string, number>> }>();
  for (const { refId, labels, values } of series) {
    const by = DIMENSIONS.find((each) => each === refId);
    const value = values.at(-1);
    const { measure = '', stat = '' } = labels;
    if (by === undefined || value === undefined) {
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
