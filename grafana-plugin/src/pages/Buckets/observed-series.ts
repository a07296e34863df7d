import {
  classicHistogram,
  histogramDelta,
  type ClassicHistogram,
} from '../../../../core/histogram/classic-histogram.ts';
import type { ObservedSeries } from '../../../../core/histogram/bucket-advice.ts';
import type { PrometheusSeries } from '../../prometheus/query-prometheus.ts';

/** The buckets of one series at a moment. */
export interface BucketSeries {
  family: string;
  isNative: boolean;
  /** Without `le`, job and instance. */
  labels: Record<string, string>;
  histogram: ClassicHistogram;
}

/** What a server observed in the time range. */
export interface Observed {
  /** True counts. */
  exact: ObservedSeries[];
  /** Families whose counts at the start are unknown, or that were reset: only `increase()` estimates them. */
  estimated: string[];
}

const NOT_OF_SERIES = ['__name__', 'le', 'job', 'instance'];

/** Puts the bucket series of an instant query together. `family`: the name where the query took it away. */
export function bucketSeries(series: readonly PrometheusSeries[], family: string | null = null): BucketSeries[] {
  const groups = new Map<string, PrometheusSeries[]>();
  for (const one of series) {
    const key = keyOf({ family: family ?? familyOf(one.labels), labels: ownLabels(one.labels) });
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map((buckets) => ({
    family: family ?? familyOf(buckets[0]?.labels ?? {}),
    isNative: false,
    labels: ownLabels(buckets[0]?.labels ?? {}),
    histogram: classicHistogram(buckets.map(({ labels, values }) => [labels['le'] ?? '', values.at(-1) ?? NaN])),
  }));
}

/** What Prometheus stores of a server: of a family in both kinds the classic histograms. */
export function storedOnce(series: readonly BucketSeries[]): BucketSeries[] {
  const classic = new Set(series.filter(({ isNative }) => !isNative).map(({ family }) => family));
  return series.filter(({ family, isNative }) => !isNative || !classic.has(family));
}

/**
 * The counts between the two edges of the time range. `startsAtZero`: a series that is only at the end counts from 0, as
 * its server was scraped at the start without it, or started since; unless it was stored in the other kind at the start. `reset`: families that were reset in between;
 * `restarted`: a process that Prometheus scraped before started anew in between.
 */
export function observedBetween(
  start: readonly BucketSeries[],
  end: readonly BucketSeries[],
  facts: { startsAtZero: boolean; restarted: boolean; reset: ReadonlySet<string> }
): Observed {
  const before = new Map(start.map((one) => [keyOf(one), one]));
  const estimated = new Set<string>(facts.restarted ? end.map(({ family }) => family) : facts.reset);
  const exact = end.flatMap((one): ObservedSeries[] => {
    const { family, labels, histogram } = one;
    const first = before.get(keyOf(one));
    const isKnown = first === undefined ? facts.startsAtZero : first.isNative === one.isNative;
    const delta = first === undefined ? { histogram, reset: false } : histogramDelta(first.histogram, histogram);
    if (!isKnown || delta === null || delta.reset) {
      estimated.add(family);
      return [];
    }
    return [{ family, labels, histogram: delta.histogram, exact: true }];
  });
  return { exact: exact.filter(({ family }) => !estimated.has(family)), estimated: [...estimated] };
}

/** Series of `increase()`, which hold nothing for certain. */
export function estimatedSeries(series: readonly BucketSeries[]): ObservedSeries[] {
  return series.map((one) => ({ ...one, exact: false }));
}

function familyOf({ __name__: name = '' }: Record<string, string>): string {
  return name.replace(/_bucket$/, '');
}

/** The labels that distinguish the series of a family on one server. */
export function ownLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => !NOT_OF_SERIES.includes(label)));
}

function keyOf({ family, labels }: Pick<BucketSeries, 'family' | 'labels'>): string {
  return JSON.stringify([family, Object.entries(labels).sort()]);
}
