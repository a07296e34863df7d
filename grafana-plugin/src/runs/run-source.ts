import type { RunsQuery, RunsResponse, RunSummary } from '../../../core/api/runs.ts';

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
export function filterValue(run: RunSummary, member: FilterMember): string {
  return (member === 'verdict' ? run.verdict?.verdict : run[member]) ?? '';
}

/** Sort keys of the list, as in the API. */
export type SortName =
  | 'start'
  | 'duration'
  | 'scenario'
  | 'model'
  | 'system'
  | 'status'
  | 'verdict'
  | 'requests'
  | 'time_to_first_token_p50'
  | 'time_to_first_token_p99'
  | 'inter_token_latency_p50'
  | 'inter_token_latency_p99'
  | 'request_throughput'
  | 'output_token_throughput'
  | 'error_ratio'
  | 'goodput';

/** The value of a sort key; null when the run has none. */
export function sortValue(run: RunSummary, name: string): number | string | null {
  const { numbers } = run;
  const table: Record<SortName, number | string | null> = {
    start: run.start === null ? null : Date.parse(run.start),
    duration: run.duration_seconds,
    scenario: run.scenario,
    model: run.model,
    system: run.system,
    status: run.status,
    verdict: run.verdict?.verdict ?? null,
    requests: numbers?.requests.ok ?? null,
    time_to_first_token_p50: numbers?.time_to_first_token_seconds?.p50 ?? null,
    time_to_first_token_p99: numbers?.time_to_first_token_seconds?.p99 ?? null,
    inter_token_latency_p50: numbers?.inter_token_latency_seconds?.p50 ?? null,
    inter_token_latency_p99: numbers?.inter_token_latency_seconds?.p99 ?? null,
    request_throughput: numbers?.request_throughput ?? null,
    output_token_throughput: numbers?.output_token_throughput ?? null,
    error_ratio: numbers?.error_ratio ?? null,
    goodput: numbers?.goodput ?? null,
  };
  return Object.hasOwn(table, name) ? table[name as SortName] : null;
}
