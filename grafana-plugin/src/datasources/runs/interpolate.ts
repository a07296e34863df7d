import type { ScopedVars } from '@grafana/data';
import type { TemplateSrv } from '@grafana/runtime';
import type { RunFilter } from '../../exporter-api/exporter-api.ts';
import type { RunsQuery } from './types.ts';

const LISTS = ['scenario', 'model', 'system', 'tool', 'status'] as const;

/** A query with the values of the dashboard's variables; a variable with several values becomes several. */
export function interpolatedQuery(query: RunsQuery, variables: TemplateSrv, scopedVars: ScopedVars): RunsQuery {
  const values = (text: string) => variables.replace(text, scopedVars, 'csv').split(',').filter(Boolean);
  const lists = LISTS.flatMap((name) => {
    const given = query[name];
    return given ? [[name, given.flatMap(values)]] : [];
  });
  return {
    ...query,
    ...Object.fromEntries(lists),
    ...(query.runId !== undefined && { runId: values(query.runId).join(',') }),
  };
}

export function runIds(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter(Boolean);
}

/** The filter of a query. */
export function asFilter(query: Pick<RunsQuery, (typeof LISTS)[number] | 'runId'>): RunFilter {
  const ids = runIds(query.runId);
  return {
    ...Object.fromEntries(LISTS.flatMap((name) => (query[name]?.length ? [[name, query[name]]] : []))),
    ...(ids.length > 0 && { run_id: ids }),
  };
}
