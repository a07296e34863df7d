import type { FamilyMetadata } from '../../core/exposition/index.ts';
import { RESULT_PREFIX } from './finished-run.ts';
import { LAST_RESULT } from './last-result.ts';

/**
 * What can be scraped of the page of finished runs. `results`: what never changes again and is most of the page, the numbers
 * of all runs. `current`: the rest, which is small, and the numbers of runs that are new, so that they do not wait for
 * the next scrape of `results`. `all`: everything, each series once.
 */
export const PAGE_PARTS = ['all', 'current', 'results'] as const;
export type PagePart = (typeof PAGE_PARTS)[number];

/** How long a run is new: two scrapes of `results` in the shipped configuration. */
const NEW_MS = 120_000;

/** Whether the family has numbers of finished runs. */
export function isOfResults({ name }: Pick<FamilyMetadata, 'name'>): boolean {
  if (name === RESULT_INFO) return false;
  return name.startsWith(RESULT_PREFIX) || name.startsWith('llmbench_server_') || name === LAST_RESULT;
}

/** It has no numbers: the outcome of the run. */
const RESULT_INFO = `${RESULT_PREFIX}info`;

/** Knows since when each run is there. */
export class NewRuns {
  readonly #since_ms = new Map<string, number>();

  /** Those of the runs that were seen for the first time less than two minutes ago; others are forgotten. */
  of(runIds: readonly string[], now_ms: number): ReadonlySet<string> {
    const current = new Set(runIds);
    for (const runId of this.#since_ms.keys()) if (!current.has(runId)) this.#since_ms.delete(runId);
    for (const runId of current) if (!this.#since_ms.has(runId)) this.#since_ms.set(runId, now_ms);
    return new Set(runIds.filter((runId) => now_ms - (this.#since_ms.get(runId) ?? 0) < NEW_MS));
  }
}
