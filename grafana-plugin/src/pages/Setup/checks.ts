import { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { StatusAnswer } from '../../exporter-api/types.ts';
import { FIRST_TOKEN_HISTOGRAMS } from '../../prometheus/first-token-histograms.ts';
import { nativeOnlyQuery } from '../../prometheus/native-only.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';
import { serverQueries, systemsOfSeries } from '../Servers/server-queries.ts';

/** The llmbench data in a Prometheus. */
export interface PrometheusFindings {
  runs: number;
  /** Whether `llmbench serve` is scraped now. */
  exporterIsScraped: boolean;
  systems: string[];
  /** Histograms, with their job, that it stores as native ones only, which require the dashboards and rules in native/. */
  nativeOnly: string[];
}

const RANGE_SECONDS = 24 * 3600;

/** Queries the last day. Rejects when the query fails. */
export async function checkPrometheus(uid: string, nowMs: number): Promise<PrometheusFindings> {
  const series = await queryPrometheus(
    uid,
    [
      {
        refId: 'runs',
        expr: `count(count by (run_id) (last_over_time(llmbench_run_info[${RANGE_SECONDS}s])))`,
        instant: true,
      },
      { refId: 'native', expr: nativeOnlyQuery(FIRST_TOKEN_HISTOGRAMS), instant: true },
      { refId: 'exporter', expr: 'count(llmbench_build_info)', instant: true },
      ...serverQueries(RANGE_SECONDS),
    ],
    { from: nowMs - RANGE_SECONDS * 1000, to: nowMs }
  );
  const value = (name: string) => series.find(({ refId }) => refId === name)?.values.at(-1) ?? 0;
  return {
    runs: value('runs'),
    exporterIsScraped: value('exporter') > 0,
    systems: systemsOfSeries(series).map(({ system }) => system.title),
    nativeOnly: series
      .filter(({ refId }) => refId === 'native')
      .map(({ labels }) => `${labels['family']} (${labels['job'] ?? ''})`),
  };
}

export function checkExporter(url: string): Promise<StatusAnswer> {
  return new ExporterApi(url).status();
}
