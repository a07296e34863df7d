import { describe, expect, test } from '@jest/globals';

import { NO_FAULTS, parseFaults, type FaultPlan } from './plan.ts';

describe('valid faults', () => {
  test.each<[string, Partial<FaultPlan>]>([
    ['slow-start', { slowStart: { seconds: 10 } }],
    ['slow-start:seconds=0.5', { slowStart: { seconds: 0.5 } }],
    ['stall', { stall: { afterSeconds: 5, seconds: 2, everySeconds: null } }],
    ['stall:after=0,seconds=1,every=3', { stall: { afterSeconds: 0, seconds: 1, everySeconds: 3 } }],
    ['reset:rate=1', { reset: { rate: 1, afterTokens: 5 } }],
    ['malformed:after-tokens=2', { malformed: { rate: 0.1, afterTokens: 2 } }],
    [
      'http-429:after=1,seconds=2,every=10,rate=0.5,retry-after=3',
      {
        refusals: [{ status: 429, afterSeconds: 1, seconds: 2, everySeconds: 10, rate: 0.5, retryAfterSeconds: 3 }],
      },
    ],
    ['restart:worker=1', { restart: { afterSeconds: 10, seconds: 2, everySeconds: null, worker: 1 } }],
    ['slowdown', { slowdown: { factor: 1.5 } }],
    ['kv-pressure:ratio=0.2', { kvPressure: { ratio: 0.2 } }],
    ['slow-kv-tier:factor=1e3', { slowKvTier: { factor: 1000 } }],
    ['hot-worker:share=0.9', { hotWorker: { worker: 0, share: 0.9 } }],
  ])('%s', (text, plan) => {
    expect(parseFaults([text])).toEqual({ ...NO_FAULTS, ...plan });
  });

  test('several: bursts of both kinds are combined, and of one fault the last applies', () => {
    const plan = parseFaults(['http-503', 'reset:rate=0.2', 'http-429', 'reset:rate=0.3']);
    expect(plan.refusals.map(({ status }) => status)).toEqual([503, 429]);
    expect(plan.reset?.rate).toBe(0.3);
  });

  test('none', () => {
    expect(parseFaults([])).toEqual(NO_FAULTS);
  });
});

describe('invalid faults, in one line', () => {
  test.each([
    ['explode', /^one of slow-start, stall, reset, malformed, http-429, http-503, restart, /],
    ['', /^one of /],
    ['constructor', /^one of /],
    ['stall:rate=1', /^stall with no keys but after, seconds, every$/],
    ['stall:', /^stall with key=value after the colon, not ''$/],
    ['stall:seconds', /not 'seconds'$/],
    ['stall:seconds=1=2', /not 'seconds=1=2'$/],
    ['stall:seconds=0', /^stall with seconds a number from 0.001 to 86400$/],
    ['stall:seconds=', /a number from 0.001/],
    ['stall:seconds=NaN', /a number from 0.001/],
    ['reset:rate=1.1', /^reset with rate a number from 0 to 1$/],
    ['reset:after-tokens=1.5', /^reset with after-tokens a whole number from 0 to 1000000$/],
    ['stall:seconds=5,every=5', /^stall with every longer than seconds$/],
    ['http-503:every=1', /^http-503 with every longer than seconds$/],
  ])('%s', (text, message) => {
    expect(() => parseFaults([text])).toThrow(message);
  });
});
