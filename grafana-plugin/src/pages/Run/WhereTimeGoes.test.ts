import { timeSplit } from './WhereTimeGoes.tsx';

const client = { mean: 0.1, count: 200 };

test('queue + prefill + outside = client', () => {
  const split = timeSplit({
    client,
    queue: { mean: 0.03, count: 200 },
    prefill: { mean: 0.05, count: 200 },
    serverTtft: { mean: 0.09, count: 200 },
  });
  expect(split?.parts.map(({ id }) => id)).toEqual(['queue', 'prefill', 'outside']);
  expect(split?.parts[2]?.seconds).toBeCloseTo(0.02, 12);
  expect(split?.countMismatch).toBe(0);
});

test("a system without a prefill time: the rest of the server's own time is used", () => {
  const split = timeSplit({
    client,
    queue: { mean: 0.03, count: 200 },
    prefill: null,
    serverTtft: { mean: 0.09, count: 204 },
  });
  expect(split?.parts.map(({ id, seconds }) => [id, Number(seconds.toFixed(6))])).toEqual([
    ['queue', 0.03],
    ['server', 0.06],
    ['outside', 0.01],
  ]);
  expect(split?.countMismatch).toBe(4);
});

test('without the client, or without any server part, there is nothing to split', () => {
  expect(timeSplit({ client: null, queue: client, prefill: client, serverTtft: null })).toBeNull();
  expect(timeSplit({ client, queue: null, prefill: null, serverTtft: null })).toBeNull();
  expect(timeSplit({ client, queue: { mean: null, count: 3 }, prefill: null, serverTtft: null })).toBeNull();
});

test('means over other requests that exceed the client’s are no parts of it', () => {
  const parts = { client, queue: { mean: 4.8, count: 486 }, prefill: { mean: 0.3, count: 486 }, serverTtft: null };
  expect(timeSplit(parts)?.addsUp).toBe(false);
  // Over the same requests, clocks may differ by a little.
  const equal = { mean: 0.11, count: 200 };
  expect(timeSplit({ ...parts, queue: equal, prefill: null, serverTtft: equal })?.addsUp).toBe(true);
});
