import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Engine } from './engine.ts';
import type { EngineEvent, EngineRequest } from './events.ts';
import type { EngineParameters } from './parameters.ts';

const MS = 1e6;

interface Load {
  readonly parameters: EngineParameters;
  readonly requests: readonly EngineRequest[];
  readonly aborts: readonly { readonly id: string; readonly time_ns: number }[];
}

const parameters: fc.Arbitrary<EngineParameters> = fc
  .record({
    maxNumSeqs: fc.integer({ min: 1, max: 8 }),
    maxNumBatchedTokens: fc.integer({ min: 1, max: 64 }),
    maxModelLen: fc.constant(60),
    spareBlocks: fc.integer({ min: 0, max: 20 }),
    blockSize: fc.integer({ min: 1, max: 16 }),
    enablePrefixCaching: fc.boolean(),
    prefillMillisecondsPerToken: fc.constantFrom(0, 0.15, 1),
    stepBaseMilliseconds: fc.constantFrom(1, 12),
    decodeMillisecondsPerSequence: fc.constantFrom(0, 0.25),
    jitterRatio: fc.constantFrom(0, 0.05, 0.9),
    seed: fc.integer(),
    offloadTiers: fc.constantFrom(
      [],
      [{ name: 'host', blocks: 5, loadMillisecondsPerBlock: 2 }],
      [
        { name: 'host', blocks: 2, loadMillisecondsPerBlock: 0 },
        { name: 'disk', blocks: 9, loadMillisecondsPerBlock: 5 },
      ],
    ),
    speculation: fc.constantFrom(null, { draftTokens: 3, acceptanceRatio: 0.6 }),
    stall: fc.constantFrom(null, { afterSeconds: 0.1, seconds: 0.05, everySeconds: 0.2 }),
  })
  .map(({ spareBlocks, ...rest }) => ({ ...rest, numKvBlocks: Math.ceil(60 / rest.blockSize) + spareBlocks }));

const load: fc.Arbitrary<Load> = parameters.chain((engine) =>
  fc
    .array(
      fc.record({
        arrival_ns: fc.integer({ min: 0, max: 400 * MS }),
        promptTokens: fc.integer({ min: 1, max: 40 }),
        family: fc.integer({ min: 0, max: 2 }),
        outputTokens: fc.integer({ min: 1, max: 20 }),
        abortAfter_ns: fc.option(fc.integer({ min: 1, max: 300 * MS })),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((drawn) => ({
      parameters: engine,
      requests: drawn.map(({ arrival_ns, promptTokens, family, outputTokens }, i) => ({
        id: `r${i}`,
        arrival_ns,
        promptTokens,
        outputTokens,
        // Prompts of one family begin alike: block k has the same hash in all of them.
        promptBlockHashes: Array.from(
          { length: Math.floor(promptTokens / engine.blockSize) },
          (_, k) => family * 1000 + k,
        ),
      })),
      aborts: drawn.flatMap(({ arrival_ns, abortAfter_ns }, i) =>
        abortAfter_ns === null ? [] : [{ id: `r${i}`, time_ns: arrival_ns + abortAfter_ns }],
      ),
    })),
);

function announce(engine: Engine, { requests, aborts }: Load): void {
  for (const request of requests) engine.submit(request);
  for (const { id, time_ns } of aborts) engine.abort(id, time_ns);
}

function flat(events: readonly EngineEvent[]): unknown[] {
  return events.map((event) =>
    !('request' in event)
      ? event
      : [event.kind, event.time_ns, event.request.id, 'index' in event ? event.index : null],
  );
}

/** Everything that happens, one event time after the other, with the state checked at each. */
function runWatched(engine: Engine, check: () => void): EngineEvent[] {
  const events: EngineEvent[] = [];
  for (let next = engine.nextEventTime(); next !== null; next = engine.nextEventTime()) {
    events.push(...engine.advanceTo(next));
    check();
  }
  return events;
}

describe('whatever the load', () => {
  test('the batch and the KV cache stay within their limits, and are empty at the end', () => {
    fc.assert(
      fc.property(load, (drawn) => {
        const engine = new Engine(drawn.parameters);
        announce(engine, drawn);
        let inFlight = 0;
        const ended = new Set<string>();
        const events: EngineEvent[] = runWatched(engine, () => {
          const { running, waiting, usedKvBlocks, numKvBlocks, cachedKvBlocks, offloadedBlocks } = engine.state;
          expect(running).toBeLessThanOrEqual(drawn.parameters.maxNumSeqs);
          expect(usedKvBlocks).toBeGreaterThanOrEqual(0);
          expect(usedKvBlocks).toBeLessThanOrEqual(numKvBlocks);
          expect(cachedKvBlocks).toBeGreaterThanOrEqual(0);
          expect(cachedKvBlocks).toBeLessThanOrEqual(numKvBlocks - usedKvBlocks);
          offloadedBlocks.forEach((blocks, tier) =>
            expect(blocks).toBeLessThanOrEqual(drawn.parameters.offloadTiers[tier]?.blocks ?? 0),
          );
          inFlight = running + waiting;
        });
        for (const event of events)
          if (event.kind === 'finished' || event.kind === 'aborted') ended.add(event.request.id);
        expect(inFlight).toBe(0);
        expect(ended.size).toBe(drawn.requests.length);
        expect(engine.state.usedKvBlocks).toBe(0);
      }),
    );
  });

  test('each request gets exactly its tokens, in order and at increasing times, unless it is aborted', () => {
    fc.assert(
      fc.property(load, (drawn) => {
        const engine = new Engine(drawn.parameters);
        announce(engine, drawn);
        const events = engine.advanceTo(1e15);
        for (const request of drawn.requests) {
          const own = events.filter((event) => 'request' in event && event.request.id === request.id);
          const tokens = own.flatMap((event) => (event.kind === 'token' ? [event] : []));
          tokens.forEach((token, i) => {
            const earlier = tokens[i - 1]?.time_ns ?? null;
            expect(token.index).toBe(i);
            expect(token.previous_ns).toBe(earlier);
            const soonest = earlier ?? request.arrival_ns;
            // With drafts several tokens come at once, but never with the first.
            if (drawn.parameters.speculation === null || i < 2) expect(token.time_ns).toBeGreaterThan(soonest);
            else expect(token.time_ns).toBeGreaterThanOrEqual(soonest);
          });
          const last = own.at(-1);
          expect(['finished', 'aborted']).toContain(last?.kind);
          if (last?.kind === 'finished') expect(tokens).toHaveLength(request.outputTokens);
          else expect(tokens.length).toBeLessThan(request.outputTokens);
          expect(own.filter((event) => event.kind === 'finished' || event.kind === 'aborted')).toHaveLength(1);
        }
      }),
    );
  });

  test('no step has more tokens than the limit, steps do not overlap, and prefill adds up', () => {
    fc.assert(
      fc.property(load, (drawn) => {
        const engine = new Engine(drawn.parameters);
        announce(engine, { ...drawn, aborts: [] });
        const events = engine.advanceTo(1e15);
        const steps = events.flatMap((event) => (event.kind === 'step' ? [event] : []));
        steps.forEach((step, i) => {
          expect(step.start_ns).toBeGreaterThanOrEqual(steps[i - 1]?.time_ns ?? 0);
          expect(step.prefillTokens).toBeLessThanOrEqual(drawn.parameters.maxNumBatchedTokens);
        });
        // After a preemption the prefix cache may know more, or less, of the prompt than it did the first time.
        if (events.some((event) => event.kind === 'preempted')) return;
        const finished = events.flatMap((event) => (event.kind === 'finished' ? [event.request] : []));
        const computed = finished.reduce((sum, request) => sum + request.promptTokens - request.cachedTokens, 0);
        const prefilled = steps.reduce((sum, step) => sum + step.prefillTokens, 0);
        expect(prefilled).toBe(computed);
      }),
    );
  });

  test('the events depend on seed and times alone, not on when the engine is queried', () => {
    fc.assert(
      fc.property(load, fc.integer({ min: MS, max: 30 * MS }), (drawn, stride_ns) => {
        const whole = new Engine(drawn.parameters);
        announce(whole, drawn);
        const expected = flat(whole.advanceTo(1e12));

        // Announced as late as possible and advanced in small portions, as a server does.
        const live = new Engine(drawn.parameters);
        const announcements = [
          ...drawn.requests.map((request) => ({ time_ns: request.arrival_ns, act: () => live.submit(request) })),
          ...drawn.aborts.map(({ id, time_ns }) => ({ time_ns, act: () => live.abort(id, time_ns) })),
        ].sort((a, b) => a.time_ns - b.time_ns);
        const events: EngineEvent[] = [];
        for (const { time_ns, act } of announcements) {
          for (let t = live.now_ns + stride_ns; t < time_ns; t += stride_ns) events.push(...live.advanceTo(t));
          act();
        }
        events.push(...live.advanceTo(1e12));
        expect(flat(events)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});

test('another seed gives other times', () => {
  const first = (seed: number): number | undefined => {
    const engine = new Engine({
      maxNumSeqs: 1,
      maxNumBatchedTokens: 8,
      maxModelLen: 60,
      numKvBlocks: 60,
      blockSize: 1,
      enablePrefixCaching: true,
      prefillMillisecondsPerToken: 1,
      stepBaseMilliseconds: 1,
      decodeMillisecondsPerSequence: 1,
      jitterRatio: 0.1,
      offloadTiers: [],
      stall: null,
      speculation: null,
      seed,
    });
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 1, outputTokens: 1 });
    return engine.advanceTo(1e12).find((event) => event.kind === 'token')?.time_ns;
  };
  expect(first(1)).toBe(first(1));
  expect(first(1)).not.toBe(first(2));
});
