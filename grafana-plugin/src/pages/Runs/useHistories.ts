import { useCallback, useMemo } from 'react';
import { useLoaded } from '../../components/useLoaded.ts';
import type { RunPageRequest } from '../../exporter-api/exporter-api.ts';
import type { RunPage } from '../../exporter-api/types.ts';
import type { RunSource } from '../../runs/run-source.ts';
import { type Histories, runHistories } from './run-histories.ts';

/** Histories are taken from so many of the newest runs. */
const MOST_RUNS = 500;

/** The histories of the runs on a page, taken from these and, once they are there, the newest ones. */
export function useHistories(source: RunSource, request: RunPageRequest, page: RunPage | undefined): Histories {
  const { scenario, model, system, tool } = request;
  // A list for a text: the members are new objects whenever the address changes.
  const key = JSON.stringify({ scenario, model, system, tool });
  const isMore = page !== undefined && page.total > page.runs.length;
  const load = useCallback(
    (signal: AbortSignal) => source.list({ ...JSON.parse(key), status: ['completed'], limit: MOST_RUNS }, signal),
    [source, key]
  );
  const { data: more } = useLoaded(isMore ? load : null);
  return useMemo(() => {
    const runs = [...((isMore ? more?.runs : undefined) ?? []), ...(page?.runs ?? [])];
    return runHistories([...new Map(runs.map((run) => [run.run_id, run])).values()]);
  }, [isMore, more, page]);
}
