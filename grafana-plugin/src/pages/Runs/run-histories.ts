import { useCallback, useMemo } from 'react';
import { isOrdered, oldestFirst } from '../../../../core/run/run-order.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunsQuery, RunsResponse, RunSummary } from '../../../../core/api/runs.ts';
import { sortValue } from '../../../../core/api/run-list.ts';
import type { RunSource } from '../../runs/run-source.ts';

/** A number of a run and of the comparable runs before it, in the order of time. */
export type Histories = (run: RunSummary, name: string) => Array<number | null>;

const LENGTH = 12;

/** Histories of these runs. Only completed runs of the same scenario, fingerprint and system are comparable. */
export function runHistories(runs: readonly RunSummary[]): Histories {
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) {
    if (isOrdered(run) && run.status === 'completed') {
      groups.set(groupOf(run), [...(groups.get(groupOf(run)) ?? []), run]);
    }
  }
  for (const group of groups.values()) {
    group.sort(oldestFirst);
  }
  return (run, name) => {
    const group = groups.get(groupOf(run)) ?? [];
    const at = group.findIndex(({ run_id }) => run_id === run.run_id);
    return at < 0
      ? []
      : group.slice(Math.max(0, at + 1 - LENGTH), at + 1).map((one) => {
          const value = sortValue(one, name);
          return typeof value === 'number' ? value : null;
        });
  };
}

function groupOf({ scenario, fingerprint, system }: RunSummary): string {
  return JSON.stringify([scenario, fingerprint, system]);
}

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
