import { describe, expect, test } from '@jest/globals';
import type { Dataset } from '../datasets/dataset.ts';
import { scheduledPart } from './scheduled-part.ts';

const trace = (...due_seconds: number[]): Dataset => ({
  planSha256: '',
  size: due_seconds.length,
  due_ns: Float64Array.from(due_seconds, (seconds) => Math.round(seconds * 1e9)),
  request: (phase, position) => ({ prompt: `${phase} ${position}`, max_tokens: 1 }),
});
const PLAIN = { kind: 'trace', autoOffset: false, startOffset_ms: null, endOffset_ms: null } as const;
const TRACE = trace(2, 2, 2.5, 10, 10.0000001);

describe('which part of the trace is sent when', () => {
  test.each([
    ['all of it, from its zero', PLAIN, [2e9, 2e9, 2.5e9, 10e9, 10_000_000_100], 0],
    ['from its first request', { ...PLAIN, autoOffset: true }, [0, 0, 0.5e9, 8e9, 8_000_000_100], 0],
    ['from a start on', { ...PLAIN, startOffset_ms: 2500 }, [0, 7.5e9, 7_500_000_100], 2],
    ['to an end, inclusive', { ...PLAIN, endOffset_ms: 10_000 }, [2e9, 2e9, 2.5e9, 10e9], 0],
    ['a part', { ...PLAIN, startOffset_ms: 2001, endOffset_ms: 9000 }, [499e6], 2],
  ])('%s', (_, schedule, offsets_ns, first) => {
    const dataset = scheduledPart(TRACE, schedule);
    expect([...dataset.due_ns]).toEqual(offsets_ns);
    expect(dataset.request('measure', 0).prompt).toBe(`measure ${first}`);
    expect(dataset.request('warmup', 0).prompt).toBe('warmup 0');
  });

  test.each([
    ['nothing in the part', TRACE, { ...PLAIN, startOffset_ms: 3000, endOffset_ms: 9000 }, 'no request of the input'],
    ['an empty trace', trace(), PLAIN, 'no request of the input'],
    [
      'times that descend',
      trace(1, 3, 2),
      PLAIN,
      'request 3 of the input has a lower timestamp than the one before it',
    ],
    ['no times', { ...TRACE, due_ns: undefined }, PLAIN, 'no timestamps'],
  ])('%s is refused', (_, dataset, schedule, message) => {
    expect(() => scheduledPart(dataset as Dataset, schedule)).toThrow(message);
  });
});
