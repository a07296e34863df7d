import { expect, test } from '@jest/globals';
import { firstTokenTime, type FirstTokenPartName, type ObservedPart, type ObservedTime } from './first-token-time.ts';

const time = (mean: number, count = 200): ObservedTime => ({ families: ['f'], count, seconds: mean * count });
const part = (
  name: FirstTokenPartName,
  mean: number,
  count = 200,
  per: ObservedPart['per'] = 'request',
): ObservedPart => ({
  ...{ part: name, per },
  ...time(mean, count),
});
const client = { count: 200, mean: 0.1 };
const split = (parts: readonly ObservedPart[], of: ObservedTime = time(0.09), seen = client, isParallel = false) => {
  const { parts: found, notes, ...rest } = firstTokenTime(seen, { whole: of, parts, isParallel });
  const ms = found?.map(({ part: name, seconds }) => [name, Number((seconds * 1000).toFixed(6))]) ?? null;
  return { ms, notes, ...rest };
};

test('by hand: 30 + 50 + 10 of the servers that no part explains + 10 outside = 100 ms', () => {
  expect(split([part('queue', 0.03), part('prefill', 0.05)])).toEqual({
    ms: [
      ['queue', 30],
      ['prefill', 50],
      ['not_attributed', 10],
      ['outside', 10],
    ],
    notes: [],
    requests: 200,
    client_seconds: 0.1,
    server_seconds: 0.09,
  });
});

test('a router that chooses two workers for each request: both choices are of the request', () => {
  const { ms } = split([part('router', 0.001, 400, 'choice'), part('prefill', 0.05)]);
  expect(ms?.slice(0, 2)).toEqual([
    ['router', 2],
    ['prefill', 50],
  ]);
  expect(split([part('prefill', 0.05), part('router', 0.001, 500, 'choice')]).notes).toEqual([
    'left out: f has 500 observations of 200 requests',
  ]);
});

test('a part of other requests is left out, and its time is not attributed', () => {
  const { ms, notes } = split([part('queue', 0.03, 150), part('prefill', 0.05)]);
  expect(ms).toEqual([
    ['prefill', 50],
    ['not_attributed', 40],
    ['outside', 10],
  ]);
  expect(notes).toEqual(['left out: f has 150 observations of 200 requests']);
  expect(split([part('queue', 0.03, 150)])).toMatchObject({ ms: null, notes: [expect.stringMatching(/^left out/)] });
});

test('of nearly the same requests, because some failed: means are taken for those of all, and that is stated', () => {
  const { ms, notes } = split([part('queue', 0.03, 194), part('prefill', 0.05)], time(0.09), { count: 196, mean: 0.1 });
  expect(ms?.map(([, each]) => each)).toEqual([30, 50, 10, 10]);
  expect(notes).toEqual([
    'the servers’ means are of 200 requests, the client’s is of 196: the sum is not exact',
    'f has 194 observations of 200 requests: the sum is not exact',
  ]);
});

test('the client’s mean is of other requests: the time outside is not known, that in the servers is', () => {
  const { ms, notes } = split([part('queue', 0.03, 240), part('prefill', 0.05, 240)], time(0.09, 240));
  expect(ms?.map(([name]) => name)).toEqual(['queue', 'prefill', 'not_attributed']);
  expect(notes).toEqual([
    'the servers’ means are of 240 requests, the client’s is of 200: the time outside the servers is not known',
  ]);
});

test('means of twice as many requests are no parts: each was at two servers', () => {
  const { ms, notes } = split([part('queue', 0.03, 400)], time(0.09, 400));
  expect(ms).toBeNull();
  expect(notes).toEqual(['the servers’ means are of 400 requests, the client’s is of 200: they are no parts of it']);
});

test('parts that together exceed the whole overlap, and none is shown', () => {
  const { ms, notes } = split([part('prefill', 0.08), part('first_decode', 0.07), part('router', 0.001)]);
  expect(ms).toBeNull();
  expect(notes).toEqual([
    'parts overlap, as where the prefill and the decode worker are called at once: Server: prefill 80 ms, Decode worker: first token 70 ms, of 90 ms in the servers',
  ]);
  // Also where they would fit, but the servers show that they are at the same time.
  expect(split([part('prefill', 0.02), part('first_decode', 0.03)], time(0.09), client, true).ms).toBeNull();
  expect(split([part('transfer', -0.001)]).ms).toBeNull();
});

test('a server that was slower than its client has no such parts; rounding is no part', () => {
  expect(split([part('queue', 0.03)], time(0.11))).toMatchObject({
    ms: null,
    notes: ['the servers’ mean, 110 ms, exceeds the client’s, 100 ms'],
  });
  expect(split([part('queue', 0.03), part('prefill', 0.06 + 1e-12)]).ms?.map(([name]) => name)).toEqual([
    'queue',
    'prefill',
    'outside',
  ]);
});
