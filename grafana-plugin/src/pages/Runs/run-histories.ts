import type { RunSummary } from '../../exporter-api/types.ts';
import { sortValue } from '../../runs/run-source.ts';

/** A number of a run and of those before it that may be compared with it, in the order of time. */
export type Histories = (run: RunSummary, name: string) => Array<number | null>;

const LENGTH = 12;

/** Histories out of these runs: only runs with the same fingerprint that have ended, as only they are alike. */
export function runHistories(runs: readonly RunSummary[]): Histories {
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) {
    if (run.start !== null && run.status === 'completed') {
      groups.set(run.fingerprint, [...(groups.get(run.fingerprint) ?? []), run]);
    }
  }
  for (const group of groups.values()) {
    group.sort((a, b) => Date.parse(a.start ?? '') - Date.parse(b.start ?? ''));
  }
  return (run, name) => {
    const group = groups.get(run.fingerprint) ?? [];
    const at = group.findIndex(({ run_id }) => run_id === run.run_id);
    return at < 0
      ? []
      : group.slice(Math.max(0, at + 1 - LENGTH), at + 1).map((one) => {
          const value = sortValue(one, name);
          return typeof value === 'number' ? value : null;
        });
  };
}
