import { exactDistribution } from '../../../core/measures/distribution-result.ts';
import { measureFamily } from '../../../core/measures/foreign-definitions.ts';
import type { DistributionMeasure } from '../../../core/measures/measures.ts';
import type { Clock, Unit } from '../../../core/run/statistic.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { DistributionResult, Percentile, ScalarResult } from '../../../core/run/result.ts';
import type { Fields } from '../reading/fields.ts';

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

/**
 * A row of a tool's table: the name under which a file has a figure, its measure and definition, and what else it is.
 * `scale` makes base units of it, 0.001 of milliseconds.
 */
export type StatedFigure = readonly [
  name: string,
  measure: string,
  definition: string,
  more?: Omit<StatedIdentity, 'measure' | 'definition'> & { readonly scale?: number },
];

/** Statistics as a file reports them, in its unit; null or absent is what it does not report. */
export interface StatedStatistics {
  readonly n: number | null;
  readonly mean?: number | null;
  readonly std?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly percentiles?: Readonly<Partial<Record<PercentileName, number | null>>>;
}

/** The same in base units, and with any percentile, by its quantile from 0 to 1. */
export interface ReportedStatistics extends Readonly<Record<'mean' | 'std' | 'min' | 'max', number | null>> {
  readonly percentiles: ReadonlyMap<number, number>;
}

/** How a tool names the statistics of a distribution. */
export interface StatisticNames {
  readonly mean: string;
  readonly std?: string;
  readonly min: string;
  readonly max: string;
  readonly percentiles: Readonly<Partial<Record<PercentileName, string>>>;
}

/** Percentiles that a tool names as a result does, but for some. */
export function percentileNames(
  changes: StatisticNames['percentiles'] = {},
  prefix = '',
): Readonly<Record<PercentileName, string>> {
  const names = PERCENTILE_NAMES.map((name) => [name, changes[name] ?? prefix + name]);
  return Object.fromEntries(names) as Record<PercentileName, string>;
}

/** The statistics that `read` finds under a tool's names. */
export function readStatistics(
  read: (name: string) => number | null,
  names: StatisticNames,
  n: number | null = null,
): StatedStatistics {
  const [mean, std] = [read(names.mean), names.std === undefined ? null : read(names.std)];
  const [min, max] = [read(names.min), read(names.max)];
  const percentiles = Object.entries(names.percentiles).map(([name, theirs]) => [name, read(theirs)] as const);
  return { n, mean, std, min, max, percentiles: Object.fromEntries(percentiles) };
}

/** Statistics in base units, as they are checked against values. */
export function inBaseUnits({ percentiles = {}, ...stated }: StatedStatistics, scale: number): ReportedStatistics {
  const scaled = (value: number | null | undefined): number | null => (value == null ? null : value * scale);
  const named = PERCENTILE_NAMES.flatMap((name): [number, number][] => {
    const value = scaled(percentiles[name]);
    return value === null ? [] : [[PERCENTILES[name], value]];
  });
  const [mean, std, min, max] = [scaled(stated.mean), scaled(stated.std), scaled(stated.min), scaled(stated.max)];
  return { mean, std, min, max, percentiles: new Map(named) };
}

/** What a row of a table is a figure of. */
export function identityOf([, measure, definition, more = {}]: StatedFigure): StatedIdentity {
  return { measure, definition, ...more };
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

/** The numbers for the run that a table names; what the file does not report is absent. */
export function statedScalars(read: (name: string) => number | null, table: readonly StatedFigure[]): ScalarResult[] {
  return table.flatMap((row) => {
    const value = read(row[0]);
    return value === null ? [] : [statedScalar(identityOf(row), value, row[3]?.scale)];
  });
}

/**
 * The limits of a goodput in one text, part of its definition: goodput under other limits is another measure. The limits
 * of tools are milliseconds.
 */
export function limitsText(limits: Fields): string {
  const named = limits.names.flatMap((name) => {
    const limit = limits.amount(name);
    return limit === null ? [] : [`${name}<=${limit}`];
  });
  return `[${named.sort().join(',')}]`;
}

/** Good requests per second, and their share, as far as a file reports them; `over` and `of` name what they are divided by. */
export function statedGoodput(
  [rate, over]: readonly [value: number | null, over: string],
  [share, of]: readonly [value: number | null, of: string],
  limits: string,
): ScalarResult[] {
  const definition = `good_requests_over_${over}${limits}`;
  const good = { measure: 'goodput', definition, unit: 'requests_per_second' } as const;
  const ratio = { measure: 'good_request_ratio', definition: `good_over_${of}${limits}`, unit: 'ratio' } as const;
  return [
    ...(rate === null ? [] : [statedScalar(good, rate)]),
    ...(share === null ? [] : [statedScalar({ ...ratio, population: 'all' }, share)]),
  ];
}

/**
 * Exact statistics of a measure whose values a file holds without the times of their requests; `values` in base units
 * and in the order in which the requests were due. Null without values.
 */
export function exactStated(identity: StatedIdentity, values: Float64Array): DistributionResult | null {
  if (values.length === 0) return null;
  const { population, origin } = identified(identity);
  return { ...exactDistribution(statedFacts(identity), population, values), origin };
}

/** What the statistics of core/measures require of a measure that a file states. */
export function statedFacts(identity: StatedIdentity): DistributionMeasure {
  const { measure, unit, definition, clock } = identified(identity);
  return { measure, unit, definition, clock, formula: '', direction: 'none', value: null };
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
