import { setTimeout as sleep } from 'node:timers/promises';
import { collectionOf, type Collection } from './collection.ts';
import { Collector } from './scrape/collector.ts';
import type { Target } from './scrape/targets.ts';

export interface WindowRequest {
  readonly targets: readonly Target[];
  /** Between the two scrapes. */
  readonly seconds: number;
  /** Wall time at which `now_ns` is 0. */
  readonly epoch: { readonly wall: Date };
  /** Nanoseconds since the epoch. */
  readonly now_ns: () => number;
  /** Ends the window early. */
  readonly until: AbortSignal;
  readonly report: (line: string) => void;
}

/** Scrapes the targets twice, a window apart; without a wait when none responds to the first scrape. */
export async function watchWindow({
  targets,
  seconds,
  epoch,
  now_ns,
  until,
  report,
}: WindowRequest): Promise<Collection> {
  const collector = new Collector({ targets, interval_ns: seconds * 1e9, now_ns, report });
  try {
    await collector.scrapeEdge();
    const start_ns = now_ns();
    if (collector.loops.some(({ store }) => store.lastOkAt(Infinity) >= 0))
      // It rejects only when `until` ends the window early.
      await sleep(seconds * 1000, undefined, { signal: until }).catch(() => undefined);
    const end_ns = now_ns();
    await collector.scrapeEdge();
    return collectionOf(collector, {
      zeroWall_ns: BigInt(epoch.wall.getTime()) * 1_000_000n,
      window: { start_ns, end_ns },
      settled_ns: now_ns(),
      slice_ns: null,
      definitions: 'llmbench',
    });
  } finally {
    await collector.stop();
  }
}
