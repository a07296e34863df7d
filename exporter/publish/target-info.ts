import type { Labels, SampleInput } from '../../core/exposition/index.ts';
import type { ServersResult } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { ownValue } from '../../core/text/nearest-names.ts';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Host and port of an HTTP URL, the port also where the URL leaves it out: what Prometheus sets as the label `instance` of
 * a target. Null: not an HTTP URL.
 */
function targetAddress(url: string): string | null {
  const parsed = URL.parse(url);
  const port = parsed === null ? undefined : parsed.port || ownValue(DEFAULT_PORTS, parsed.protocol);
  return parsed === null || !Object.hasOwn(DEFAULT_PORTS, parsed.protocol) ? null : `${parsed.hostname}:${port ?? ''}`;
}

/** A metrics page that a run has read. */
export interface ScrapedTarget {
  /** Its URL without user info and query. */
  readonly target: string;
  /** What the page was recognized as; null: as nothing known. */
  readonly system: string | null;
}

export const RUN_TARGET_INFO = {
  name: 'llmbench_run_target_info',
  help: "Metrics page that the run read, always 1; address is the label instance of Prometheus' own series of it. At most 256 per run.",
  type: 'gauge',
} as const;

export const RUN_TARGETS = {
  name: 'llmbench_run_targets',
  help: 'Metrics pages of servers that responded to the newest scrape of the run; it follows servers that start and end.',
  type: 'gauge',
} as const;

/** Every target is a series that stays as long as its run. */
export const MAX_TARGETS = 256;

/** One sample per target, each once; those beyond the limit and those that are no HTTP URLs are left out. */
export function targetInfoSamples(labels: Labels, targets: readonly ScrapedTarget[]): readonly SampleInput[] {
  const samples = new Map<string, SampleInput>();
  for (const { target, system } of targets) {
    const address = targetAddress(target);
    if (address === null || samples.has(target) || samples.size === MAX_TARGETS) continue;
    samples.set(target, { labels: { ...labels, target, address, system: system ?? '' }, value: 1 });
  }
  return [...samples.values()];
}

/** The targets of a finished run that were read. */
export function readTargets(servers: ServersResult | null): readonly ScrapedTarget[] {
  const targets = servers?.targets ?? [];
  return targets.filter(({ state }) => state === 'up' || state === 'gone');
}

/**
 * The metrics pages that a run under way has read. Each stays as it was first known: a series that came and went with the
 * state of its server would break the joins.
 */
export class LiveTargets {
  readonly #labels: Labels;
  readonly #targets = new Map<string, ScrapedTarget>();
  #samples: readonly SampleInput[] = [];

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  read(targets: readonly ScrapedTarget[]): void {
    for (const each of targets) if (!this.#targets.has(each.target)) this.#targets.set(each.target, each);
    this.#samples = targetInfoSamples(this.#labels, [...this.#targets.values()]);
  }

  get samples(): readonly SampleInput[] {
    return this.#samples;
  }

  /** How many were left out. */
  get dropped(): number {
    return this.#targets.size - this.#samples.length;
  }
}

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
