import { quantities } from '../../catalog/equivalents.ts';
import type { FamilyMatch } from '../../catalog/types.ts';
import { type GroupAdvice, type DividedBucket, boundsAround, limitAdvice } from '../../core/histogram/bucket-advice.ts';
import { DISTRIBUTION_MEASURES, type PerRequestMeasure } from '../../core/measures/measures.ts';
import { measureOfName } from '../../core/measures/names.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import { figuresOf } from '../../core/measures/request-figures.ts';
import { OBJECTIVES } from '../../core/objectives/rule-settings.ts';
import { objectiveWords } from '../../core/objectives/grammar.ts';
import type { Objectives } from '../../core/run/objectives.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { PERCENTILES } from '../../core/stats/percentiles.ts';

/** A limit of a latency that a server's histograms should show. */
export interface ServerLimit {
  /** `TTFT p95 < 300 ms`. */
  readonly text: string;
  /** An objective of a run or a command line, a limit of goodput, or the threshold of an alert. */
  readonly from: 'slo' | 'goodput' | 'alert';
  readonly limit_seconds: number;
  /** The share that has to be within it, 0 to 1; null: it is for single requests. */
  readonly share: number | null;
  /** The client's measure of the name; null for the alerts, which are about servers. */
  readonly measure: string | null;
  /** The quantity of `equivalents.yaml` whose families count it. */
  readonly quantity: string;
  /** Of the client's own values; null: there are none. */
  readonly client: ClientShare | null;
}

export interface ClientShare {
  readonly n: number;
  /** Exact, 0 to 1. */
  readonly within: number;
}

/** What the buckets of a group of a family know of a limit. */
export interface LimitBuckets extends Omit<ServerLimit, 'quantity' | 'measure'> {
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly n: number;
  /** In the unit of the family. */
  readonly limit: number;
  readonly is_bound: boolean;
  /** Share within the limit: by the counts, and as Prometheus interpolates it. */
  readonly within: { readonly low: number; readonly estimate: number; readonly high: number };
  /** The bucket that holds the limit; null ends are infinite. */
  readonly bucket: { readonly low: number | null; readonly high: number | null };
  /** Whether the share is kept; null: that is open, or no share is required. */
  readonly kept: boolean | null;
  /** Bounds that are missing for a counted share and an error of 5 % at most around the limit. */
  readonly add: readonly number[];
}

/** The latencies of the objectives that servers have histograms of, and the thresholds of the alerts. */
export function latencyLimits({ slos, goodput }: Objectives): readonly ServerLimit[] {
  const known = (measure: string): string | null =>
    quantities().find((each) => each.kind === 'histogram' && each.measure === measureOfName(measure).measure)
      ?.quantity ?? null;
  const ofSlos = slos.flatMap((slo): ServerLimit[] => {
    const share = Object.entries(PERCENTILES).find(([name]) => name === slo.stat)?.[1];
    const quantity = known(slo.measure);
    if (share === undefined || quantity === null || slo.unit !== 'seconds') return [];
    const { measure, limit: limit_seconds } = slo;
    return [{ text: objectiveWords(slo), from: 'slo', limit_seconds, share, measure, quantity, client: null }];
  });
  const ofGoodput = goodput.flatMap(({ measure, limit, unit }): ServerLimit[] => {
    const quantity = known(measure);
    if (quantity === null || unit !== 'seconds') return [];
    const text = objectiveWords({ measure, stat: null, comparison: '<=', limit, unit });
    return [{ text, from: 'goodput', limit_seconds: limit, share: null, measure, quantity, client: null }];
  });
  const ofAlerts = OBJECTIVES.map(({ measure, limitSeconds, share }): ServerLimit => {
    const text = objectiveWords({ measure, stat: null, comparison: '<=', limit: limitSeconds, unit: 'seconds' });
    return {
      ...{ text, from: 'alert', limit_seconds: limitSeconds, share },
      ...{ measure: null, quantity: measure, client: null },
    };
  });
  return [...ofSlos, ...ofGoodput, ...ofAlerts];
}

/** The same with the share of the client's requests within each, counted in the records of the measure phase. */
export async function withClientShares(
  limits: readonly ServerLimit[],
  records: AsyncIterable<RequestRecord>,
): Promise<readonly ServerLimit[]> {
  const counts = limits.map((limit) => ({ limit, measure: clientMeasure(limit), n: 0, within: 0 }));
  if (counts.every(({ measure }) => measure === null)) return limits;
  for await (const record of records) {
    if (record.phase !== 'measure' || standingOf(record) !== 'ok') continue;
    const figures = figuresOf(record);
    for (const count of counts) {
      const value = count.measure?.value(figures) ?? null;
      if (value === null) continue;
      count.n += 1;
      if (value <= count.limit.limit_seconds) count.within += 1;
    }
  }
  return counts.map(({ limit, n, within }) => ({ ...limit, client: n === 0 ? null : { n, within: within / n } }));
}

function clientMeasure({ measure: name }: ServerLimit): PerRequestMeasure | null {
  if (name === null) return null;
  const { measure, clock } = measureOfName(name);
  const found = DISTRIBUTION_MEASURES.find((each) => each.measure === measure && each.clock === clock);
  return found?.value == null ? null : found;
}

/** A family with what its groups counted. */
export interface CountedFamily {
  readonly family: string;
  readonly match: FamilyMatch | null;
  readonly bounds: readonly number[];
  readonly groups: readonly GroupAdvice[];
}

/** The rows of all limits that a family counts. */
export function limitBuckets(
  { family, match, bounds, groups }: CountedFamily,
  limits: readonly ServerLimit[],
): LimitBuckets[] {
  return limitsOf(match, limits).flatMap(({ limit, text, from, limit_seconds, share, client }) =>
    groups.flatMap(({ labels, n, histogram }): LimitBuckets[] => {
      const advice = limitAdvice(limit, histogram);
      if (advice === null) return [];
      const { within, bucket, isBound } = advice;
      return [
        {
          ...{ text, from, limit_seconds, share, client },
          ...{ family, labels, n, limit, is_bound: isBound, within },
          bucket: { low: finite(bucket.low), high: finite(bucket.high) },
          kept: keptOf(share, within),
          add: boundsAround(limit, bounds).map(({ bound }) => bound),
        },
      ];
    }),
  );
}

/** The bounds that a family lacks around its limits. */
export function boundsForLimits(
  match: FamilyMatch | null,
  bounds: readonly number[],
  limits: readonly ServerLimit[],
): readonly DividedBucket[] {
  const all = limitsOf(match, limits).flatMap(({ limit }) => boundsAround(limit, bounds));
  return [...new Map(all.map((each) => [each.bound, each])).values()];
}

/** The limits that a family counts, in its unit. */
function limitsOf(
  match: FamilyMatch | null,
  limits: readonly ServerLimit[],
): readonly (ServerLimit & { readonly limit: number })[] {
  if (match === null) return [];
  const { catalog, family } = match;
  const counted = quantities().filter(
    ({ kind, families }) =>
      kind === 'histogram' &&
      families.some((each) => each.system === catalog.system && each.family === family.name && each.only === undefined),
  );
  const perUnit = family.factor ?? 1;
  return limits
    .filter(({ quantity }) => counted.some((each) => each.quantity === quantity))
    .map((limit) => ({ ...limit, limit: Number((limit.limit_seconds / perUnit).toPrecision(12)) }));
}

function keptOf(share: number | null, { low, high }: { readonly low: number; readonly high: number }): boolean | null {
  if (share === null) return null;
  if (low >= share) return true;
  return high < share ? false : null;
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
