import { judgePercentile } from './judge-percentile.ts';

const ALLOWANCE = 0.005;

test.each([
  ['within a narrow interval', 0.07, { low: 0.06, high: 0.08 }, 'agrees'],
  ['above it by less than the network', 0.084, { low: 0.06, high: 0.08 }, 'agrees'],
  ['above it by more', 0.086, { low: 0.06, high: 0.08 }, 'differs'],
  ['below it: no network makes a client faster', 0.059, { low: 0.06, high: 0.08 }, 'differs'],
  ['within an interval wider than half of it', 0.186, { low: 0.1, high: 0.25 }, 'unresolved'],
  ['outside of a wide interval all the same', 0.9, { low: 0.1, high: 0.25 }, 'differs'],
  ['beyond the last bucket', 3, { low: 2, high: Infinity }, 'unresolved'],
  ['beyond the last bucket, but the client is below', 1, { low: 2, high: Infinity }, 'differs'],
  ['no client', null, { low: 0, high: 1 }, 'unknown'],
  ['no server', 1, null, 'unknown'],
])('%s', (_name, client, server, expected) => {
  expect(judgePercentile(client, server, ALLOWANCE)).toBe(expected);
});
