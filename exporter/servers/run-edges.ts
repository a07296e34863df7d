import { things } from '../../core/measures/things.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collector } from './collector.ts';
import { countsRest, serverLoad } from './load-gauges.ts';
import type { TargetLoop } from './target-loop.ts';

export const DEFAULT_DRAIN_TIMEOUT_SECONDS = 10;
/** The counts get this long to come to rest after the last answer. */
const SETTLE_SECONDS = 2;
const LOOK_EVERY_MS = 100;

export interface EdgeOptions {
  readonly now_ns: () => number;
  readonly drainTimeoutSeconds: number;
  readonly say: (line: string) => void;
}

/** How the end of the run was reached; nanoseconds of the collection's clock. */
export interface Settled {
  readonly settled_ns: number;
  /** False: counts still moved when the time was up, so that the window is not exact. */
  readonly atRest: boolean;
}

/**
 * Before the first measured request: waits until the servers hold no request, at most the drain timeout, with the start
 * scrape as the last thing. False: they were not idle, so requests of others or of the warm-up are in the window.
 */
export async function startEdge(collector: Collector, options: EdgeOptions, givenUp: AbortSignal): Promise<boolean> {
  const until_ns = options.now_ns() + options.drainTimeoutSeconds * 1e9;
  for (;;) {
    await collector.scrapeEdge();
    const load = totalLoad(collector);
    if (load === 0 || givenUp.aborted) return load === 0;
    if (options.now_ns() >= until_ns) {
      options.say(
        `the servers still hold ${things(load, 'requests')} after ${options.drainTimeoutSeconds} s: others use them too`,
      );
      return false;
    }
    await pause(givenUp);
  }
}

/** After the last answer: scrapes until nothing runs and two scrapes in a row count the same, at most 2 s. */
export async function endEdge(collector: Collector, options: EdgeOptions): Promise<Settled> {
  const until_ns = options.now_ns() + SETTLE_SECONDS * 1e9;
  await collector.scrapeEdge();
  for (;;) {
    await pause(null);
    await collector.scrapeEdge();
    const atRest = totalLoad(collector) === 0 && readable(collector).every((loop) => rests(collector, loop));
    const settled_ns = options.now_ns();
    if (atRest || settled_ns >= until_ns) return { settled_ns, atRest };
  }
}

/** Targets whose newest scrape was good: the others have nothing to wait for. */
function readable(collector: Collector) {
  return collector.loops.filter(({ state }) => state === 'up');
}

/** A target that owes its answer says nothing of now. */
function rests(collector: Collector, loop: TargetLoop): boolean {
  return !collector.isOverdue(loop) && countsRest(loop.store);
}

/** A target without such gauges counts as idle: nothing can be waited for. */
function totalLoad(collector: Collector): number {
  return readable(collector).reduce((sum, { store }) => sum + (serverLoad(store) ?? 0), 0);
}

async function pause(givenUp: AbortSignal | null): Promise<void> {
  // Given up: the caller looks and ends.
  await sleep(LOOK_EVERY_MS, undefined, givenUp === null ? {} : { signal: givenUp }).catch(() => undefined);
}
