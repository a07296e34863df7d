import { useCallback } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { timeOfRuns } from '../../components/run-link.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { queryPrometheus, type TimeSpan } from '../../prometheus/query-prometheus.ts';
import { latenciesOf } from '../../runs/latencies.ts';
import { classicCountQuery, eitherCountQuery, nativeSeriesQuery } from '../../prometheus/native-queries.ts';

export interface ScrapedRequests {
  /** Requests counted between the first and the last scrape of the run. */
  counted: number;
  /** Ok requests of the run; null where unknown. */
  total: number | null;
}

/**
 * How many requests of a finished run Prometheus counted between its scrapes. A run that is shorter than a scrape interval
 * or that was imported is published afterwards, so its counters never increase. Undefined while loading; null for a run in
 * progress, and where the query failed: the panels then show the error.
 */
export function useScrapedRequests(run: RunSummary): ScrapedRequests | null | undefined {
  const { prometheus } = usePage();
  const time = timeOfRuns([run]);
  const isOver = time !== null && time.to !== 'now';
  const wanted = isOver && prometheus !== null;
  const [from, to] = isOver ? [time.from, Number(time.to)] : [0, 0];
  // Only a latency that the run has counts its requests.
  const family = `llmbench_${latenciesOf(run)[0] ?? 'request_latency'}_seconds`;
  const load = useCallback(
    () => scrapedRequests(prometheus ?? '', family, run.run_id, { from, to }),
    [prometheus, family, run.run_id, from, to]
  );
  const { data, error } = useLoaded(wanted ? load : null);
  const total = run.numbers?.requests.ok ?? null;
  if (!wanted) {
    // An imported run without a time of its own, or no Prometheus at all: nothing was scraped.
    return run.status === 'running' ? null : { counted: 0, total };
  }
  return error ? null : data === undefined ? undefined : { counted: data, total };
}

async function scrapedRequests(prometheus: string, family: string, runId: string, time: TimeSpan): Promise<number> {
  const rangeSeconds = Math.ceil((time.to - time.from) / 1000);
  const valueOf = async (expr: string) =>
    (await queryPrometheus(prometheus, [{ refId: 'value', expr, instant: true }], time))[0]?.values.at(-1) ?? 0;
  const counted = await valueOf(classicCountQuery(family, runId, rangeSeconds));
  // Asked only then, because a system without native histograms does not know their functions.
  const isNative = counted === 0 && (await valueOf(nativeSeriesQuery(family, runId, rangeSeconds))) > 0;
  return isNative ? valueOf(eitherCountQuery(family, runId, rangeSeconds)) : counted;
}

/** True when Prometheus missed more than half of the requests, so that its percentiles do not describe the run. */
export function isMostlyUnscraped({ counted, total }: ScrapedRequests): boolean {
  return total === null ? counted === 0 : counted < total / 2;
}
