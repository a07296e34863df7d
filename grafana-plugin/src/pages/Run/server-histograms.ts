import { useCallback } from 'react';
import type { QuantityName } from '../../../../core/api/run-data.ts';
import {
  addHistograms,
  classicHistogram,
  type ClassicHistogram,
} from '../../../../core/histogram/classic-histogram.ts';
import type { HistogramStatistics, ServersFile } from '../../../../core/run/servers-file.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { useLoaded, type Loaded } from '../../hooks/useLoaded.ts';

/** What the servers of a run counted of one quantity in its window. */
interface ServerCounts {
  family: string;
  targets: string[];
  /** True counts, added over series with the same bounds. */
  histogram: ClassicHistogram;
  count: number;
  /** The sum may narrow bounds: no series was reset, and every sum is consistent with its buckets. */
  sumIsSound: boolean;
}

/**
 * Adds up the series of a family. Series whose bounds differ are never added: each grid is an entry of its own. A
 * series that is on two pages counts once.
 */
export function serverCounts({ series }: ServersFile): ServerCounts[] {
  const groups = new Map<string, Array<{ target: string; statistics: HistogramStatistics }>>();
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
            sumIsSound: members.every(({ statistics }) => statistics.resets === 0 && !statistics.infeasible_sum),
          },
        ];
  });
}

/** What the client's exact percentile and the server's interval say of each other. */
export type Agreement = 'agrees' | 'differs' | 'unresolved' | 'unknown';

export interface Interval {
  low: number;
  /** Infinity when the percentile is above the last finite bound. */
  high: number;
}

/** An interval that is wider than this share of the client's value says too little for an agreement to mean anything. */
export const MAX_SHARE = 0.5;

/**
 * The client measures what the server measures plus the network: it agrees when its value lies in the server's interval,
 * or above it by no more than the allowance. Outside of it the two differ, however wide the buckets are. Within an
 * interval that is wider than half of the client's value, or has no upper end, is too coarse to compare.
 */
export function judgePercentile(client: number | null, server: Interval | null, allowanceSeconds: number): Agreement {
  if (client === null || server === null) {
    return 'unknown';
  }
  if (client < server.low || client > server.high + allowanceSeconds) {
    return 'differs';
  }
  return server.high - server.low > MAX_SHARE * client ? 'unresolved' : 'agrees';
}

export const COMPARED = [
  'time_to_first_token',
  'time_per_output_token',
  'request_latency',
] as const satisfies readonly QuantityName[];
export type Compared = (typeof COMPARED)[number];

export type CountsByQuantity = Record<Compared, ServerCounts[]>;

/** What the servers counted in the run's window, by quantity; nothing where no server was collected. */
export function useServerCounts(exporter: ExporterApi, runId: string, wanted: boolean): Loaded<CountsByQuantity> {
  const load = useCallback(
    async (signal: AbortSignal) => {
      const responses = await Promise.all(COMPARED.map((quantity) => exporter.servers(runId, [quantity], signal)));
      return Object.fromEntries(
        COMPARED.map((quantity, i) => [quantity, responses[i] ? serverCounts(responses[i]) : []])
      ) as CountsByQuantity;
    },
    [exporter, runId]
  );
  return useLoaded(wanted ? load : null);
}
