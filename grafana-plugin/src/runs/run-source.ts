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
