import type { Labels, SampleInput } from '../../core/exposition/index.ts';
import type { ServersResult } from '../../core/run/result.ts';
import { ownValue } from '../../core/text/own-value.ts';

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Host and port of an HTTP URL, the port also where the URL leaves it out: what Prometheus sets as the label `instance` of
 * a target. Null: not an HTTP URL.
 */
export function targetAddress(url: string): string | null {
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
