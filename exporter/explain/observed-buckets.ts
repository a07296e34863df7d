import { classicHistogram, type ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import type { ObservedSeries } from '../../core/histogram/family-advice.ts';
import type { ServersFile, SeriesSummary } from '../../core/run/servers-file.ts';
import { HistogramSeries } from '../servers/series/series.ts';
import type { CollectedTarget } from '../servers/collection.ts';

/** Histograms of one target with what they observed. */
export interface ObservedTarget {
  /** The URL without user info and query. */
  readonly target: string;
  readonly series: readonly ObservedSeries[];
}

/** What the histograms of each target observed in the window of the file. Series of another target's are left out. */
export function observedInWindow({ targets, series }: ServersFile): ObservedTarget[] {
  return targets.map(({ target }) => ({
    target,
    series: series.flatMap((each) => {
      const histogram = each.target === target && each.repeats === null ? histogramOf(each) : null;
      return histogram === null ? [] : [{ family: each.family, labels: each.labels, histogram, exact: true }];
    }),
  }));
}

function histogramOf({ type, statistics }: SeriesSummary): ClassicHistogram | null {
  if (type !== 'histogram' || statistics === null || !('buckets' in statistics)) return null;
  const { buckets = null } = statistics;
  return buckets === null || buckets.length === 0 ? null : classicHistogram(buckets);
}

/** All that the histograms of a target counted since their process started, by its newest page. */
export function observedSinceStart({ name, store }: CollectedTarget): ObservedTarget {
  return {
    target: name,
    series: store.series.flatMap((each) => {
      const histogram = each instanceof HistogramSeries ? newestCounts(each) : null;
      return histogram === null ? [] : [{ family: each.family.name, labels: each.labels, histogram, exact: true }];
    }),
  };
}

function newestCounts(series: HistogramSeries): ClassicHistogram | null {
  const change = series.lastValueAt(series.changes - 1);
  if (change < 0 || series.bounds.length === 0) return null;
  return { bounds: series.bounds, counts: series.bounds.map((_, bucket) => series.count(change, bucket)), sum: null };
}
