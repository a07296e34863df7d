import { measureFamily } from '../../../core/measures/foreign-definitions.ts';
import type { Clock, Unit } from '../../../core/run/statistic.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { DistributionResult, Percentile, ScalarResult } from '../../../core/run/result.ts';

/** Which figure it is: of our measures, or with a unit when it is none of them. */
export interface StatedIdentity {
  readonly measure: string;
  /** Of `core/measures/measures.ts` when the tool's formula is the same, else of `foreign-definitions.ts`. */
  readonly definition: string;
  readonly unit?: Unit;
  readonly population?: 'ok' | 'all';
  readonly clock?: Clock;
  readonly origin?: 'client' | 'server';
}

/** Statistics as a file reports them, in its unit; null or absent is what it does not report. */
export interface StatedStatistics {
  readonly n: number | null;
  readonly mean?: number | null;
  readonly std?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly percentiles?: Readonly<Partial<Record<PercentileName, number | null>>>;
}

/** A distribution that a file states, times `scale` (0.001 for milliseconds). */
export function statedDistribution(
  identity: StatedIdentity,
  { n, mean, std, min, max, percentiles }: StatedStatistics,
  scale = 1,
): DistributionResult {
  const scaled = (value: number | null | undefined): number | null =>
    typeof value === 'number' ? value * scale : null;
  const percentile = (name: PercentileName): Percentile => ({
    value: scaled(percentiles?.[name]),
    ci95: null,
    bounds: null,
  });
  return {
    ...identified(identity),
    kind: 'distribution',
    n,
    effective_n: null,
    mean: scaled(mean),
    std: scaled(std),
    min: scaled(min),
    max: scaled(max),
    percentiles: Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, percentile(name)])) as Record<
      PercentileName,
      Percentile
    >,
  };
}

/** One number for the run that a file states, times `scale`. */
export function statedScalar(identity: StatedIdentity, value: number | null, scale = 1): ScalarResult {
  return { ...identified(identity), kind: 'scalar', value: value === null ? null : value * scale };
}

/** What distinguishes a figure from others, as in a result. */
function identified({ measure, definition, unit, population, clock, origin }: StatedIdentity): {
  readonly measure: string;
  readonly unit: Unit;
  readonly definition: string;
  readonly origin: 'client' | 'server';
  readonly population: 'ok' | 'all';
  readonly clock: Clock;
} {
  const known = measureFamily(measure)?.unit ?? unit;
  if (known === undefined) throw new Error(`core/measures does not define ${measure}, and it has no unit`);
  return {
    measure,
    unit: known,
    definition,
    origin: origin ?? 'client',
    population: population ?? 'ok',
    clock: clock ?? 'sent',
  };
}
