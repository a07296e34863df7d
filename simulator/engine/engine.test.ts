import { describe, expect, test } from '@jest/globals';

import { Engine } from './engine.ts';
import type { EngineEvent } from './events.ts';
import type { EngineParameters } from './parameters.ts';

const MS = 1e6;

/** 10 ms per step, 1 ms per prompt token, 2 ms per decoding request, no jitter: times that can be added up by hand. */
const PLAIN: EngineParameters = {
  maxNumSeqs: 4,
  maxNumBatchedTokens: 100,
  maxModelLen: 64,
  numKvBlocks: 64,
  blockSize: 4,
  enablePrefixCaching: true,
  prefillMillisecondsPerToken: 1,
  stepBaseMilliseconds: 10,
  decodeMillisecondsPerSequence: 2,
  jitterRatio: 0,
  offloadTiers: [],
  stall: null,
  speculation: null,
  seed: 1,
};

function tokenTimes(events: readonly EngineEvent[], id: string): number[] {
  return events.flatMap((event) => (event.kind === 'token' && event.request.id === id ? [event.time_ns / MS] : []));
}

function kinds(events: readonly EngineEvent[]): string[] {
  return events.flatMap((event) => ('request' in event ? [`${event.kind} ${event.request.id}`] : []));
}

describe('step times', () => {
  test('one request: prefill, then a token per step', () => {
    const engine = new Engine(PLAIN);
    engine.submit({ id: 'a', arrival_ns: 5 * MS, promptTokens: 8, outputTokens: 3 });
    expect(engine.nextEventTime()).toBe(5 * MS);
    const events = engine.advanceTo(1000 * MS);
    // 5 + (10 + 8) = 23, then 12 for each step of one decoding request.
    expect(tokenTimes(events, 'a')).toEqual([23, 35, 47]);
    expect(kinds(events)).toEqual(['scheduled a', 'token a', 'token a', 'token a', 'finished a']);
    expect(engine.nextEventTime()).toBeNull();
    expect(engine.state).toMatchObject({ running: 0, waiting: 0, usedKvBlocks: 0, numKvBlocks: 64 });
  });

  test('a request for no tokens ends when its prompt is computed, and has no token', () => {
    const engine = new Engine(PLAIN);
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 0 });
    const events = engine.advanceTo(1000 * MS);
    expect(kinds(events)).toEqual(['scheduled a', 'finished a']);
    // 10 + 8.
    expect(events.flatMap((event) => (event.kind === 'finished' ? [event.time_ns / MS] : []))).toEqual([18]);
    expect(engine.state).toMatchObject({ running: 0, waiting: 0, usedKvBlocks: 0 });
  });

  test('a request that arrives during a step joins the next one, and slows it', () => {
    const engine = new Engine(PLAIN);
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 3 });
    engine.submit({ id: 'b', arrival_ns: 1 * MS, promptTokens: 4, outputTokens: 2 });
    const events = engine.advanceTo(1000 * MS);
    // 18; 18 + 10 + 2 (a) + 4 (b) = 34; 34 + 10 + 2 + 2 = 48.
    expect(tokenTimes(events, 'a')).toEqual([18, 34, 48]);
    expect(tokenTimes(events, 'b')).toEqual([34, 48]);
  });

  test('a request that arrives exactly at the end of a step is in the next one', () => {
    const engine = new Engine(PLAIN);
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 2 });
    engine.submit({ id: 'b', arrival_ns: 18 * MS, promptTokens: 4, outputTokens: 1 });
    expect(tokenTimes(engine.advanceTo(1000 * MS), 'b')).toEqual([34]);
  });

  test('a prompt longer than the token limit of a step is prefilled in chunks', () => {
    const engine = new Engine({ ...PLAIN, maxNumBatchedTokens: 20 });
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 50, outputTokens: 1 });
    const events = engine.advanceTo(1000 * MS);
    // 20 + 20 + 10 tokens in three steps: 30 + 30 + 20.
    expect(tokenTimes(events, 'a')).toEqual([80]);
    expect(events.flatMap((event) => (event.kind === 'step' ? [event.prefillTokens] : []))).toEqual([20, 20, 10]);
  });

  test('no more than maxNumSeqs run at once; the others wait in order', () => {
    const engine = new Engine({ ...PLAIN, maxNumSeqs: 1 });
    for (const id of ['a', 'b', 'c']) engine.submit({ id, arrival_ns: 0, promptTokens: 5, outputTokens: 1 });
    engine.advanceTo(1 * MS);
    expect(engine.state).toMatchObject({ running: 1, waiting: 2, usedKvBlocks: 2 });
    const events = engine.advanceTo(1000 * MS);
    expect(['a', 'b', 'c'].flatMap((id) => tokenTimes(events, id))).toEqual([15, 30, 45]);
  });
});

describe('prefix cache', () => {
  test('full blocks that are cached are not computed again, but at least one token is', () => {
    const engine = new Engine(PLAIN);
    const hashes = [11, 12];
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, promptBlockHashes: hashes, outputTokens: 1 });
    engine.submit({ id: 'same', arrival_ns: 100 * MS, promptTokens: 8, promptBlockHashes: hashes, outputTokens: 1 });
    engine.submit({ id: 'fork', arrival_ns: 200 * MS, promptTokens: 9, promptBlockHashes: [11, 99], outputTokens: 1 });
    const events = engine.advanceTo(1000 * MS);
    const cached = events.flatMap((event) => (event.kind === 'finished' ? [event.request.cachedTokens] : []));
    // Of 8 known tokens only the first block may be used: the last token has to be computed.
    expect(cached).toEqual([0, 4, 4]);
    expect(tokenTimes(events, 'same')).toEqual([114]);
    expect(tokenTimes(events, 'fork')).toEqual([215]);
  });

  test('requests that run share blocks, and a cached block is reused when nothing else is free', () => {
    const engine = new Engine({ ...PLAIN, numKvBlocks: 16 });
    const shared = { promptTokens: 9, promptBlockHashes: [1, 2], outputTokens: 20 };
    engine.submit({ id: 'a', arrival_ns: 0, ...shared });
    engine.submit({ id: 'b', arrival_ns: 25 * MS, ...shared });
    engine.advanceTo(40 * MS);
    expect(engine.state).toMatchObject({ running: 2, usedKvBlocks: 4 });
    // Fills the whole cache, so that the blocks of a and b are handed out again.
    engine.submit({ id: 'big', arrival_ns: 1000 * MS, promptTokens: 63, outputTokens: 1 });
    engine.submit({ id: 'late', arrival_ns: 2000 * MS, ...shared });
    const events = engine.advanceTo(4000 * MS);
    const cached = events.flatMap((event) => (event.kind === 'finished' ? [event.request.cachedTokens] : []));
    expect(cached).toEqual([0, 8, 0, 0]);
  });
});

describe('preemption', () => {
  test('the newest is preempted when blocks run out, computed again, and still gets its tokens', () => {
    // Two requests of 24 + 16 tokens need 10 blocks each at the end; there are 16.
    const engine = new Engine({ ...PLAIN, numKvBlocks: 16 });
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 24, outputTokens: 16 });
    engine.submit({ id: 'b', arrival_ns: 1, promptTokens: 24, outputTokens: 16 });
    const events = engine.advanceTo(10_000 * MS);
    const order = kinds(events).filter((kind) => !kind.startsWith('token'));
    expect(order).toEqual(['scheduled a', 'scheduled b', 'preempted b', 'finished a', 'scheduled b', 'finished b']);
    expect(tokenTimes(events, 'a')).toHaveLength(16);
    expect(tokenTimes(events, 'b')).toHaveLength(16);
    const preempted = events.find((event) => event.kind === 'preempted');
    expect(preempted?.request.preemptions).toBe(1);
    const resumed = events.findIndex((event) => event.kind === 'scheduled' && event.resumed);
    const step = events.slice(resumed).find((event) => event.kind === 'step');
    const generatedBefore = events.slice(0, resumed).filter((e) => e.kind === 'token' && e.request.id === 'b').length;
    expect(step?.prefillTokens).toBe(24 + generatedBefore);
  });
});

describe('abort', () => {
  test('a running request gets no further token and frees its blocks at the end of the step', () => {
    const engine = new Engine(PLAIN);
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 10 });
    engine.abort('a', 20 * MS);
    const events = engine.advanceTo(25 * MS);
    expect(kinds(events)).toEqual(['scheduled a', 'token a', 'aborted a']);
    expect(engine.state).toMatchObject({ running: 0, waiting: 0, usedKvBlocks: 3 });
    expect(kinds(engine.advanceTo(100 * MS))).toEqual([]);
    expect(engine.state.usedKvBlocks).toBe(0);
    expect(engine.nextEventTime()).toBeNull();
  });

  test('a queued request leaves the queue; an unknown or ended one is ignored', () => {
    const engine = new Engine({ ...PLAIN, maxNumSeqs: 1 });
    engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 2 });
    engine.submit({ id: 'b', arrival_ns: 1, promptTokens: 8, outputTokens: 2 });
    engine.abort('b', 2 * MS);
    engine.abort('unknown', 3 * MS);
    engine.abort('a', 500 * MS);
    expect(kinds(engine.advanceTo(1000 * MS))).toEqual([
      'scheduled a',
      'aborted b',
      'token a',
      'token a',
      'finished a',
    ]);
  });
});

describe('refusals', () => {
  const engine = new Engine(PLAIN);
  engine.advanceTo(100);
  engine.submit({ id: 'a', arrival_ns: 200, promptTokens: 8, outputTokens: 2 });

  test.each<[string, () => void, string]>([
    [
      'an arrival in the past',
      () => engine.submit({ id: 'b', arrival_ns: 100, promptTokens: 1, outputTokens: 1 }),
      'is not after',
    ],
    ['no prompt', () => engine.submit({ id: 'b', arrival_ns: 200, promptTokens: 0, outputTokens: 1 }), 'promptTokens'],
    [
      'less than no output',
      () => engine.submit({ id: 'b', arrival_ns: 200, promptTokens: 1, outputTokens: -1 }),
      'outputTokens',
    ],
    [
      'more tokens than the model holds',
      () => engine.submit({ id: 'b', arrival_ns: 200, promptTokens: 60, outputTokens: 5 }),
      'exceed maxModelLen 64',
    ],
    [
      'an id twice',
      () => engine.submit({ id: 'a', arrival_ns: 200, promptTokens: 8, outputTokens: 2 }),
      'already in the engine',
    ],
    ['an abort in the past', () => engine.abort('a', 100), 'is not after'],
    ['going back in time', () => engine.advanceTo(99), 'cannot advance'],
  ])('%s', (_case, act, message) => {
    expect(act).toThrow(message);
  });

  test.each<[string, Partial<EngineParameters>]>([
    ['maxNumSeqs', { maxNumSeqs: 0 }],
    ['blockSize', { blockSize: 1.5 }],
    ['prefillMillisecondsPerToken', { prefillMillisecondsPerToken: -1 }],
    ['stepBaseMilliseconds', { stepBaseMilliseconds: 0 }],
    ['jitterRatio', { jitterRatio: 1 }],
    ['seed', { seed: 0.5 }],
    ['must hold maxModelLen', { numKvBlocks: 15 }],
  ])('a wrong parameter: %s', (message, wrong) => {
    expect(() => new Engine({ ...PLAIN, ...wrong })).toThrow(message);
  });
});
