import type { PrometheusSeries, PrometheusTarget } from '../../prometheus/query-prometheus.ts';
import { SYSTEMS } from '../../catalog/systems.ts';

/** The longest interval at which the recording rules have a rate at every evaluation. */
export const RULES_MAX_INTERVAL_SECONDS = 60;
/** Scrapes jitter. */
const ROUNDING_SECONDS = 1;
const REF_ID = 'scrape interval';

/** How often a job scrapes inference servers. */
export interface JobInterval {
  job: string;
  seconds: number;
}

/** Queries for the intervals of the jobs that have scraped a known server in the last ten minutes. */
export function intervalQueries(): PrometheusTarget[] {
  // The time between a sample and the one before it, at the second at which it arrives.
  const gaps = ({ presence }: { presence: string }) => `timestamp(${presence}) - timestamp(${presence} offset 1s) > 0`;
  return SYSTEMS.map((system) => ({
    refId: `${system.id} ${REF_ID}`,
    expr: `max by (job) (min_over_time((${gaps(system)})[10m:1s]))`,
    instant: true,
  }));
}

/** The slowest first. */
export function jobIntervals(series: readonly PrometheusSeries[]): JobInterval[] {
  const slowest = new Map<string, number>();
  for (const { labels, values } of series.filter(({ refId }) => refId.endsWith(REF_ID))) {
    const job = labels['job'] ?? '';
    slowest.set(job, Math.max(slowest.get(job) ?? 0, Math.round(values.at(-1) ?? 0)));
  }
  return [...slowest]
    .map(([job, seconds]) => ({ job, seconds }))
    .sort((a, b) => b.seconds - a.seconds || a.job.localeCompare(b.job));
}

/** The jobs for which the rules have gaps. */
export function tooSlow(intervals: readonly JobInterval[]): JobInterval[] {
  return intervals.filter(({ seconds }) => seconds > RULES_MAX_INTERVAL_SECONDS + ROUNDING_SECONDS);
}
