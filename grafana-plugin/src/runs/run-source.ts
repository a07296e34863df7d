import { useMemo } from 'react';
import { listRuns } from '../../../core/api/run-list.ts';
import type { RunsQuery, RunsResponse, RunSummary, ValueName } from '../../../core/api/runs.ts';
import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import { usePage } from '../hooks/page-context.ts';
import { queryPrometheus, type TimeSpan } from '../prometheus/query-prometheus.ts';
import { runQueries, runsOfSeries } from './prometheus-runs.ts';

/** A source of run lists: the exporter, or Prometheus without an exporter. */
export interface RunSource {
  readonly kind: 'exporter' | 'prometheus';
  list(request: RunsQuery, signal?: AbortSignal): Promise<RunsResponse>;
  /** The values of a filter. */
  values(member: FilterMember, signal?: AbortSignal): Promise<string[]>;
}

export const FILTER_MEMBERS = ['scenario', 'model', 'system', 'tool', 'status', 'verdict'] as const;
export type FilterMember = (typeof FILTER_MEMBERS)[number];

/** The value of a run that a filter compares; empty when the run has none. */
function filterValue(run: RunSummary, member: FilterMember): string {
  return (member === 'verdict' ? run.verdict?.verdict : run[member]) ?? '';
}

const VALUES: Record<FilterMember, ValueName> = {
  scenario: 'scenarios',
  model: 'models',
  system: 'systems',
  tool: 'tools',
  status: 'statuses',
  verdict: 'verdicts',
};

/** The exporter filters, sorts and pages. */
function exporterSource(api: ExporterApi): RunSource {
  return {
    kind: 'exporter',
    list: (request, signal) => api.runs(request, signal),
    values: async (member, signal) => {
      const { values } = await api.values(VALUES[member], {}, signal);
      return values.map(({ value }) => value);
    },
  };
}

/** Runs that Prometheus has in the time range, read with one query for the whole list. */
function prometheusSource(uid: string, time: TimeSpan): RunSource {
  const load = async () => {
    const series = await queryPrometheus(uid, runQueries((time.to - time.from) / 1000), time);
    return runsOfSeries(series, time.to);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const all = () => (loaded ??= load());
  return {
    kind: 'prometheus',
    list: async (request) => listRuns(await all(), request),
    values: async (member) => [...new Set((await all()).map((run) => filterValue(run, member)))].sort(),
  };
}

/** Where the page's runs come from; null when Grafana has neither data source. `without` leaves the exporter out. */
export function useRunSource(withoutExporter = false): RunSource | null {
  const { exporter, prometheus, time } = usePage();
  return useMemo(() => {
    if (exporter !== null && !withoutExporter) {
      return exporterSource(exporter);
    }
    return prometheus === null ? null : prometheusSource(prometheus, time);
    // A new time object means that the page was refreshed.
  }, [exporter, prometheus, time, withoutExporter]);
}
