import type { RunFile } from '../../core/run/run.ts';
import { targetAddress } from './target-info.ts';

/** One group of Prometheus' `http_sd`: the labels become labels of the targets, those that begin with `__` are consumed. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export const RUN_JOB = 'llmbench-run';
export const SERVER_JOB = 'llmbench-server';

export type DiscoveredRun = Pick<RunFile, 'run_id' | 'start' | 'process'>;

/**
 * The metrics of these runs and, each once, those of the servers that they measure. No group carries `run_id` as a label of
 * its target: a run says it on its own series, and a server's series outlive the run. For relabeling, a run's id is in
 * `__meta_llmbench_run_id` (of several runs on one page, which one command made, that of the newest) and what the target is,
 * `run` or `server`, in `__meta_llmbench_role`. User info and query
 * strings of the addresses are left out.
 */
export function targetGroups(runs: readonly DiscoveredRun[]): readonly TargetGroup[] {
  const groups = new Map<string, TargetGroup>();
  const add = (address: string, job: string, meta: Readonly<Record<string, string>>): void => {
    const url = URL.parse(address);
    const target = targetAddress(address);
    if (url === null || target === null) return;
    const key = `${url.protocol}//${target}${url.pathname}`;
    if (groups.has(key)) return;
    const labels = { job, __scheme__: url.protocol.slice(0, -1), __metrics_path__: url.pathname, ...meta };
    groups.set(key, { targets: [target], labels });
  };

  for (const { run_id, process } of runs.toSorted(startedLast)) {
    if (process === null || process.metrics_url === null) continue;
    add(process.metrics_url, RUN_JOB, { __meta_llmbench_role: 'run', __meta_llmbench_run_id: run_id });
  }
  for (const address of runs.flatMap(({ process }) => process?.server_metrics_urls ?? [])) {
    add(address, SERVER_JOB, { __meta_llmbench_role: 'server' });
  }
  return [...groups.values()];
}

const startedLast = (a: DiscoveredRun, b: DiscoveredRun): number =>
  Date.parse(b.start ?? '') - Date.parse(a.start ?? '') || 0;
