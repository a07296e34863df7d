import type { RunFilter } from '../../exporter-api/exporter-api.ts';
import { runIds } from './interpolate.ts';
import type { RunsQuery } from './types.ts';

const MEMBERS = ['scenario', 'model', 'system', 'tool', 'status'] as const;

/** The part of a query that says which runs. */
export function asFilter(query: Pick<RunsQuery, (typeof MEMBERS)[number] | 'runId'>): RunFilter {
  const ids = runIds(query.runId);
  return {
    ...Object.fromEntries(MEMBERS.flatMap((name) => (query[name]?.length ? [[name, query[name]]] : []))),
    ...(ids.length > 0 && { run_id: ids }),
  };
}
