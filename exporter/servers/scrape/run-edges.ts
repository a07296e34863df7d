import { pause } from '../../clock/pause.ts';
import { things } from '../../../core/text/quantities.ts';
import { RAY_REPORT_SECONDS } from '../../../catalog/lookup.ts';
import type { Collector } from './collector.ts';
import type { LateFamilies } from '../summary/late-families.ts';
import type { TargetStore } from '../series/target-store.ts';
import { countsMoved, countsRest, serverLoad } from '../summary/load-now.ts';
import type { TargetLoop } from './target-loop.ts';

export const DEFAULT_DRAIN_TIMEOUT_SECONDS = 10;
/** Longest wait for the counts to settle after the last response. */
const SETTLE_SECONDS = 2;
/** Longest wait for observations of requests that are counted already. */
const LATE_SECONDS = 4;
const LOOK_EVERY_MS = 100;
/** For the way from the engine to the page. */
const RAY_MARGIN_SECONDS = 1;

export interface EdgeOptions {
  readonly now_ns: () => number;
  readonly drainTimeoutSeconds: number;
  readonly say: (line: string) => void;
  readonly late: LateFamilies;
}

/** How the end of the run was reached; nanoseconds of the collection's clock. */
export interface Settled {
  readonly settled_ns: number;
  /** False: counts still changed when the time was up, so the window is not exact. */
  readonly atRest: boolean;
}

/**
 * Before the first measured request: waits, up to the drain timeout, until the servers hold no request and their histograms
 * have all that were counted; the last step is the start scrape. Returns false when they were not idle, so that the window includes requests of other clients or
 * of the warm-up.
 */
export async function startEdge(collector: Collector, options: EdgeOptions, givenUp: AbortSignal): Promise<boolean> {
  if (options.drainTimeoutSeconds > 0) await rayReported(collector, options, 'earlier', givenUp);
  const until_ns = options.now_ns() + options.drainTimeoutSeconds * 1e9;
  const lateUntil_ns = Math.min(until_ns, options.now_ns() + LATE_SECONDS * 1e9);
  for (;;) {
    await collector.scrapeEdge();
    const load = totalLoad(collector);
    const isLate = options.now_ns() < lateUntil_ns && options.late.anyLate(storesOf(collector));
    if ((load === 0 && !isLate) || givenUp.aborted) {
      if (!givenUp.aborted) options.late.giveUp(storesOf(collector));
      return load === 0;
    }
    if (load === 0) {
      await pause(LOOK_EVERY_MS, givenUp);
      continue;
    }
    if (options.now_ns() >= until_ns) {
      options.say(
        `the servers still hold ${things(load, 'requests')} after ${options.drainTimeoutSeconds} s: other clients use them too`,
      );
      return false;
    }
    await pause(LOOK_EVERY_MS, givenUp);
  }
}

/**
 * After the last response: scrapes until no request is running and two consecutive scrapes have the same counts, at
 * most 2 s, or 13 s if an engine is inside Ray; then, at most 4 s, until the histograms of requests have all that were counted.
 */
export async function endEdge(collector: Collector, options: EdgeOptions, givenUp: AbortSignal): Promise<Settled> {
  await rayReported(collector, options, 'last', givenUp);
  const until_ns = options.now_ns() + SETTLE_SECONDS * 1e9;
  const lateUntil_ns = options.now_ns() + (givenUp.aborted ? SETTLE_SECONDS : LATE_SECONDS) * 1e9;
  let wasAtRest = false;
  await collector.scrapeEdge();
  for (;;) {
    await pause(LOOK_EVERY_MS);
    await collector.scrapeEdge();
    const atRest = totalLoad(collector) === 0 && readable(collector).every((loop) => rests(collector, loop));
    const settled_ns = options.now_ns();
    const isLate = atRest && settled_ns < lateUntil_ns && options.late.anyLate(storesOf(collector));
    if (atRest ? !isLate : settled_ns >= (wasAtRest ? lateUntil_ns : until_ns)) return { settled_ns, atRest };
    // Late observations are changes too.
    wasAtRest ||= atRest;
  }
}

/**
 * Which of these pages count a request: those whose counts rest before it is sent, and change after it. `send` resolves when
 * it is answered; if it fails, it shows nothing.
 */
export async function movedByRequest(
  collector: Collector,
  loops: readonly TargetLoop[],
  { now_ns }: Pick<EdgeOptions, 'now_ns'>,
  send: () => Promise<void>,
): Promise<ReadonlySet<TargetLoop>> {
  const all = async (holds: (loop: TargetLoop) => boolean): Promise<TargetLoop[]> => {
    const until_ns = now_ns() + SETTLE_SECONDS * 1e9;
    for (;;) {
      await collector.scrapeEdge();
      const found = loops.filter(holds);
      if (found.length === loops.length || now_ns() >= until_ns) return found;
      await pause(LOOK_EVERY_MS);
    }
  };
  const resting = await all((loop) => rests(collector, loop));
  const before = new Map(resting.map((loop) => [loop, loop.store.scrapes - 1]));
  await send().catch(() => undefined);
  return new Set(await all((loop) => before.has(loop) && countsMoved(loop.store, before.get(loop) ?? Infinity)));
}

/** Waits until Ray has reported what the engines inside it have counted so far. */
async function rayReported(
  collector: Collector,
  { say }: EdgeOptions,
  which: 'earlier' | 'last',
  givenUp: AbortSignal,
): Promise<void> {
  if (!readable(collector).some(({ store }) => store.isOfRay)) return;
  const seconds = RAY_REPORT_SECONDS + RAY_MARGIN_SECONDS;
  say(
    `Ray reports metrics every ${RAY_REPORT_SECONDS} s: waiting ${seconds} s for the counts of the ${which} requests`,
  );
  await pause(seconds * 1000, givenUp);
}

const storesOf = (collector: Collector): TargetStore[] => readable(collector).map(({ store }) => store);

/** Targets whose newest scrape succeeded: the others are not waited for. */
function readable(collector: Collector) {
  return collector.loops.filter(({ state }) => state === 'up');
}

/** A target with a pending scrape does not report its current state. */
function rests(collector: Collector, loop: TargetLoop): boolean {
  return !collector.isOverdue(loop) && countsRest(loop.store);
}

/** Whether no target reports a request. */
export function isIdle(collector: Collector): boolean {
  return totalLoad(collector) === 0;
}

/** A target without such gauges counts as idle. */
function totalLoad(collector: Collector): number {
  return readable(collector).reduce((sum, { store }) => sum + (serverLoad(store) ?? 0), 0);
}
