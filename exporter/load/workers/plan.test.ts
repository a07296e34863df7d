import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { arrivalOffsets_ns } from '../schedule/arrivals.ts';
import { closedLoop, openLoop } from '../schedule/steady-loops.ts';
import { syntheticDataset, type SyntheticOptions } from '../datasets/synthetic-dataset.ts';
import { FixedDeal, SharedDeal, RequestFeed, type ReadyRequest, type RequestForm } from '../requests/request-feed.ts';
import { chat } from '../endpoints/openai.ts';
import { ARRIVAL_PATTERNS, type RatePlan } from '../schedule/load-plan.ts';
import { FakeGate } from '../testing/fake-gate.ts';
import type { WakeClock } from '../schedule/schedule.ts';
import { DEALT, newLoadMemory } from '../shared-counters.ts';
import { shareWithin, WHOLE, type Share } from './share.ts';

const COUNT = fc.integer({ min: 1, max: 60 });
const MANY = fc.integer({ min: 1, max: 5 });
const LIMITS = { concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 };

function formOf(options: Partial<SyntheticOptions>, seed: number): RequestForm {
  return {
    endpoint: chat,
    path: chat.path,
    headers: {},
    dataset: syntheticDataset({ inputTokens: 4, outputTokens: 8, outputStddev: 3, seed, ...options }),
    options: { model: 'm', sampling: {}, includeUsage: true },
  };
}

/** What is sent: at which position, and what. */
type Sent = readonly [position: number, body: string];

/** A request and the turns that follow it, whatever is answered. */
function turnsOf(ready: ReadyRequest): Sent[] {
  const sent: Sent[] = [[ready.position, String(ready.request.body)]];
  const next = ready.of?.conversation.answered(ready.of.number, 'an answer', 1) ?? [];
  return [...sent, ...next.flatMap((turn) => turnsOf(turn.ready))];
}

const inOrder = (sent: readonly Sent[]): Sent[] => sent.toSorted(([a], [b]) => a - b);

function all(feed: RequestFeed): Sent[] {
  const sent: Sent[] = [];
  for (let ready = feed.take(); ready !== null; ready = feed.take()) sent.push(...turnsOf(ready));
  return sent;
}

const parts = (count: number): Share[] => Array.from({ length: count }, (_, part) => ({ part, parts: count }));

const DATASETS = fc.constantFrom<Partial<SyntheticOptions>>(
  {},
  { entries: 7, userContextTokens: 3 },
  { conversations: { turns: { mean: 3, stddev: 2 }, delay: { mean: 0, stddev: 0, ratio: 1 } } },
);

describe('the requests of a seed are the same for any number of workers and shards', () => {
  test('closed loop: any free slot takes the next request', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        DATASETS,
        COUNT,
        MANY,
        MANY,
        fc.infiniteStream(fc.nat()),
        (seed, options, count, n, m, who) => {
          const form = formOf(options, seed);
          const sent = parts(m).flatMap((shard) => {
            const { dealt } = newLoadMemory();
            const feeds = parts(n).map(() => {
              const deal = new SharedDeal(shard, dealt, DEALT.measure, n === 1 ? 0 : n);
              return new RequestFeed(form, 'measure', count, 2, deal);
            });
            const taken: Sent[] = [];
            const busy = new Set(feeds);
            while (busy.size > 0) {
              const feed = [...busy][who.next().value % busy.size] as RequestFeed;
              const ready = feed.take();
              if (ready === null) busy.delete(feed);
              else taken.push(...turnsOf(ready));
            }
            expect(feeds.every((feed) => feed.exhausted)).toBe(true);
            return taken;
          });
          expect(inOrder(sent)).toEqual(all(new RequestFeed(form, 'measure', count, 5)));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('arrivals: the same due times with the same requests', () => {
    const rate = fc.record<RatePlan>({
      kind: fc.constant('rate'),
      requestRate: fc.integer({ min: 1, max: 1000 }),
      pattern: fc.constantFrom(...ARRIVAL_PATTERNS),
      smoothness: fc.constant(2),
      rampSeconds: fc.constantFrom(0, 3),
      seed: fc.nat(),
    });
    const everything = (plan: RatePlan, count: number, form: RequestForm, share: Share): unknown[] => {
      const gate = new FakeGate();
      const arrivals = { offsets_ns: arrivalOffsets_ns(plan, 'measure', {}), count };
      openLoop({ ...LIMITS, concurrency: null }, arrivals, atOnce, share).start(gate, 1000);
      const feed = new RequestFeed(form, 'measure', count, 3, new FixedDeal(share));
      const sent = gate.due.map((due_ns) => [due_ns, turnsOf(feed.take() as ReadyRequest)]);
      expect(feed.take()).toBeNull();
      return sent;
    };
    fc.assert(
      fc.property(rate, COUNT, MANY, MANY, (plan, count, n, m) => {
        const form = formOf({}, plan.seed);
        const sent = parts(m).flatMap((shard) =>
          parts(n).flatMap((worker) => everything(plan, count, form, shareWithin(shard, worker))),
        ) as [number, unknown][];
        expect(sent.toSorted(([a], [b]) => a - b)).toEqual(everything(plan, count, form, WHOLE));
      }),
      { numRuns: 60 },
    );
  });

  test('slots: as many as the concurrency, each opened when it would be alone', () => {
    const opened = (concurrency: number, share: Share): number[] => {
      const gate = new FakeGate();
      gate.now = 5e9;
      const load = { ...LIMITS, concurrency, concurrencyRampSeconds: 2, arrivals: null };
      // The ramp is over when it starts: all that is left to see is when each slot was to open.
      const schedule = closedLoop(load, share);
      schedule.start(gate, 1e9);
      schedule.stop();
      return gate.due;
    };
    fc.assert(
      // More would open over several turns of the event loop.
      fc.property(fc.integer({ min: 1, max: 8 }), MANY, (concurrency, n) => {
        const due = parts(n).flatMap((share) => opened(concurrency, share));
        expect(due.toSorted((a, b) => a - b)).toEqual(opened(concurrency, WHOLE));
      }),
    );
  });
});

/** Rings for all instants as soon as it is started. */
const atOnce: WakeClock = {
  start(instants_ns, ring) {
    for (let next = instants_ns.next(); next.done !== true; next = instants_ns.next()) ring(next.value);
  },
  stop: () => undefined,
};
