import { useCallback, useMemo } from 'react';
import { type Histories, runHistories } from '../../../../core/api/overview.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunsQuery, RunsResponse } from '../../../../core/api/runs.ts';
import type { RunSource } from '../../runs/run-source.ts';

/** Histories use at most this many of the newest runs. */
const MAX_RUNS = 500;

/** Histories of the runs on a page, from these runs and from the newest ones once they are loaded. */
export function useHistories(source: RunSource, request: RunsQuery, page: RunsResponse | undefined): Histories {
  const { scenario, model, system, tool } = request;
  // A list for a text: the members are new objects whenever the address changes.
  const key = JSON.stringify({ scenario, model, system, tool });
  const isMore = page !== undefined && page.total > page.runs.length;
  const load = useCallback(
    (signal: AbortSignal) => source.list({ ...JSON.parse(key), status: ['completed'], limit: MAX_RUNS }, signal),
    [source, key]
  );
  const { data: more } = useLoaded(isMore ? load : null);
  return useMemo(() => {
    const runs = [...((isMore ? more?.runs : undefined) ?? []), ...(page?.runs ?? [])];
    return runHistories([...new Map(runs.map((run) => [run.run_id, run])).values()]);
  }, [isMore, more, page]);
}
