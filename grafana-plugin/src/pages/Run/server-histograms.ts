import { addHistograms } from '../../../../core/histogram/add.ts';
import { type ClassicHistogram, classicHistogram } from '../../../../core/histogram/classic-histogram.ts';
import type { ServerHistogram, ServersAnswer } from '../../exporter-api/types.ts';

/** What the servers of a run counted of one quantity in its window. */
export interface ServerCounts {
  family: string;
  targets: string[];
  /** True counts, added over series with the same bounds. */
  histogram: ClassicHistogram;
  count: number;
  /** Sum of the values divided by their count; null when a sum is missing. */
  mean: number | null;
  /** The sum may narrow bounds: no series began anew, and every sum fits its buckets. */
  sumIsSound: boolean;
}

/**
 * Adds up the series of a family. Series whose bounds differ are never added: each grid is an entry of its own. A
 * series that stands on two pages counts once.
 */
export function serverCounts({ series }: ServersAnswer): ServerCounts[] {
  const groups = new Map<string, Array<{ target: string; statistics: ServerHistogram }>>();
  for (const { family, target, repeats, statistics, unit } of series) {
    if (repeats !== null || statistics?.kind !== 'histogram' || unit !== 'seconds') {
      continue;
    }
    const grid = statistics.buckets?.map(([le]) => Number(le === '+Inf' ? Infinity : le)).join(' ');
    if (grid !== undefined && (statistics.count ?? 0) > 0) {
      const key = `${family}\n${grid}`;
      groups.set(key, [...(groups.get(key) ?? []), { target, statistics }]);
    }
  }
  return [...groups].flatMap(([key, members]) => {
    const histogram = addHistograms(
      members.map(({ statistics: { buckets, sum } }) => classicHistogram(buckets ?? [], sum))
    );
    const count = histogram?.counts.at(-1) ?? 0;
    return histogram === null || count === 0
      ? []
      : [
          {
            family: key.split('\n')[0] ?? '',
            targets: [...new Set(members.map(({ target }) => target))],
            histogram,
            count,
            mean: histogram.sum === null ? null : histogram.sum / count,
            sumIsSound: members.every(({ statistics }) => statistics.resets === 0 && !statistics.infeasible_sum),
          },
        ];
  });
}
