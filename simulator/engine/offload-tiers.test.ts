import { describe, expect, test } from '@jest/globals';

import { Engine } from './engine.ts';
import type { EngineEvent } from './events.ts';
import { OffloadTiers } from './offload-tiers.ts';
import { DEFAULT_ENGINE_PARAMETERS } from './parameters.ts';
import type { EngineParameters } from './parameters.ts';

const MS = 1e6;
const tier = (name: string, blocks: number) => ({ name, blocks, loadMillisecondsPerBlock: 1 });

describe('tiers', () => {
  test('blocks that no longer fit move one tier down, the least recently used first', () => {
    const tiers = new OffloadTiers([tier('host', 2), tier('disk', 1)]);
    for (const hash of [1, 2, 3]) tiers.store(hash);
    expect(tiers.find([1, 2, 3], 0, 3)).toEqual([1, 0, 0]);
    tiers.touch([2]);
    tiers.store(4);
    // 3 is the oldest of the host now: it goes to the disk, whose only block, 1, is lost.
    expect(tiers.find([2, 4, 3], 0, 3)).toEqual([0, 0, 1]);
    expect(tiers.find([1], 0, 1)).toEqual([]);
    expect(tiers.used).toEqual([2, 1]);
    expect(tiers.takeTraffic()).toEqual({ evicted: 4, stored: [4, 2], dropped: 1 });
    expect(tiers.takeTraffic()).toEqual({ evicted: 0, stored: [0, 0], dropped: 0 });
  });

  test('a match ends at the first block that is in no tier, and at the limit', () => {
    const tiers = new OffloadTiers([tier('host', 9)]);
    for (const hash of [1, 2, 4]) tiers.store(hash);
    expect(tiers.find([1, 2, 3, 4], 0, 4)).toEqual([0, 0]);
    expect(tiers.find([1, 2, 3, 4], 1, 4)).toEqual([0]);
    expect(tiers.find([1, 2], 0, 1)).toEqual([0]);
  });

  test('without tiers everything is dropped', () => {
    const tiers = new OffloadTiers([]);
    tiers.store(1);
    expect(tiers.takeTraffic()).toEqual({ evicted: 1, stored: [], dropped: 1 });
  });
});

/** 16 blocks of 4 tokens; 10 ms per step, 1 ms per prompt token, nothing for decoding. */
const SMALL: EngineParameters = {
  ...DEFAULT_ENGINE_PARAMETERS,
  maxModelLen: 64,
  numKvBlocks: 16,
  blockSize: 4,
  prefillMillisecondsPerToken: 1,
  stepBaseMilliseconds: 10,
  decodeMillisecondsPerSequence: 0,
  jitterRatio: 0,
};

/** One after the other: a prompt of ten full blocks, another that needs their room, the first one again. */
function thereAndBack(parameters: EngineParameters): EngineEvent[] {
  const engine = new Engine(parameters);
  const hashes = (family: number): number[] => Array.from({ length: 10 }, (_, i) => family * 100 + i);
  const request = { promptTokens: 41, outputTokens: 1 };
  engine.submit({ id: 'a', arrival_ns: 0, promptBlockHashes: hashes(1), ...request });
  engine.submit({ id: 'b', arrival_ns: 1000 * MS, promptBlockHashes: hashes(2), ...request });
  engine.submit({ id: 'c', arrival_ns: 2000 * MS, promptBlockHashes: hashes(1), ...request });
  return engine.advanceTo(1e12);
}

const firstToken = (events: readonly EngineEvent[], id: string) =>
  events.flatMap((event) => (event.kind === 'token' && event.request.id === id ? [event] : []))[0];

test('a prompt whose beginning was offloaded comes back for the time of loading', () => {
  const events = thereAndBack({ ...SMALL, offloadTiers: [{ name: 'host', blocks: 20, loadMillisecondsPerBlock: 3 }] });
  const token = firstToken(events, 'c');
  // 11 of 16 blocks per request, the last without a hash: b takes 5 unused ones, that one, and a's last 5 with content;
  // c finds 5 on the device and 5 in the host.
  expect(token?.request.cachedTokens).toBe(40);
  expect(token?.request.offloadedTokens).toEqual([20]);
  // One token to compute, five blocks to load: 10 + 1 + 5 × 3.
  expect((token?.time_ns ?? 0) / MS - 2000).toBe(26);
  const traffic = events.flatMap((event) => (event.kind === 'kv-traffic' ? [event] : []));
  expect(traffic.map(({ evicted, stored, loaded }) => ({ evicted, stored, loaded }))).toEqual([
    { evicted: 5, stored: [5], loaded: [0] },
    { evicted: 5, stored: [5], loaded: [5] },
  ]);
});

test('without tiers it is computed again', () => {
  const token = firstToken(thereAndBack(SMALL), 'c');
  expect(token?.request.cachedTokens).toBe(20);
  expect((token?.time_ns ?? 0) / MS - 2000).toBe(10 + 21);
});

test('a step that begins within a stall does not end before it', () => {
  const stall = { afterSeconds: 0.02, seconds: 1, everySeconds: null };
  const engine = new Engine({ ...SMALL, stall });
  engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 4, outputTokens: 4 });
  const times = engine.advanceTo(1e12).flatMap((event) => (event.kind === 'token' ? [event.time_ns / MS] : []));
  // 14 ms for the prompt; the step from 14 ms began before the stall, the one from 24 ms in it.
  expect(times).toEqual([14, 24, 1020, 1030]);
});
