import { nativeRows } from '../../prometheus/native-grid.ts';
import type { NativeSeries } from '../../prometheus/query-prometheus.ts';
import { type BucketSeries, ownLabels } from './observed-series.ts';

/** The native histograms of a server at several moments. */
export interface NativeBuckets {
  /** Those of each moment. */
  moments: BucketSeries[][];
  /** By family: the schema of its exponential buckets; null for custom bounds. */
  schemas: Map<string, number | null>;
}

/**
 * Brings native histograms onto one grid per family, so that they can be subtracted and added. A bucket that was never
 * filled is no part of it. `family`: the name where the query took it away.
 */
export function nativeBuckets(
  moments: ReadonlyArray<readonly NativeSeries[]>,
  family: string | null = null
): NativeBuckets {
  const all = moments.flatMap((series, moment) => series.map((one) => ({ ...one, moment })));
  const byFamily = Map.groupBy(all, ({ labels }) => family ?? labels['__name__'] ?? '');
  const found: NativeBuckets = { moments: moments.map(() => []), schemas: new Map() };
  for (const [name, members] of byFamily) {
    const { bounds, schema, times, counts } = nativeRows({
      times: members.flatMap(({ cells }, i) => cells.times.map(() => i)),
      lows: members.flatMap(({ cells }) => cells.lows),
      highs: members.flatMap(({ cells }) => cells.highs),
      counts: members.flatMap(({ cells }) => cells.counts),
    });
    found.schemas.set(name, schema);
    members.forEach(({ labels, moment }, i) => {
      const row = times.indexOf(i);
      // A histogram without observations has no cells.
      const own = bounds.map((_, bucket) => (row < 0 ? 0 : (counts[row * bounds.length + bucket] ?? 0)));
      const histogram = { bounds, counts: own, sum: null };
      found.moments[moment]?.push({ family: name, isNative: true, labels: ownLabels(labels), histogram });
    });
  }
  return found;
}
