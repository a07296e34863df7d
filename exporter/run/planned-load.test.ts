import { ExpectedError } from '../errors/expected-error.ts';
import { describe, expect, test } from '@jest/globals';
import type { Dataset } from '../load/datasets/dataset.ts';
import type { LoadPlan, PhaseLoad, RatePlan, TracePlan } from '../load/schedule/load-plan.ts';
import { comparisonKey } from './comparison-key.ts';
import { announcement, plannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

const DATASET: Dataset = {
  planSha256: 'a'.repeat(64),
  size: null,
  longestOutputTokens: 8,
  request: () => ({ prompt: '', max_tokens: 8 }),
};
const TRACE: Dataset = { ...DATASET, size: 3, due_ns: Float64Array.of(0, 1e9, 2e9) };
const LIMITS = { concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 };
const CLOSED: LoadPlan = { ...LIMITS, concurrency: 4, arrivals: null };
const RATE: RatePlan = { kind: 'rate', requestRate: 2.5, pattern: 'poisson', smoothness: 1, rampSeconds: 0, seed: 1 };
const FIXED: TracePlan = { kind: 'trace', autoOffset: false, startOffset_ms: null, endOffset_ms: null };

interface Changes extends Partial<Omit<RunRequest, 'measure'>>, Partial<PhaseLoad> {}

const request = ({ load, requestCount, durationSeconds, ...changes }: Changes): RunRequest =>
  ({
    model: 'm',
    measure: {
      load: load ?? CLOSED,
      requestCount: requestCount === undefined ? 10 : requestCount,
      durationSeconds: durationSeconds ?? null,
      gracePeriodSeconds: 30,
    },
    warmup: null,
    cancellation: null,
    maxOutputTokensTotal: null,
    outputTokens: 8,
    sampling: {},
    traffic: {} as RunRequest['traffic'],
    ...changes,
  }) as RunRequest;
const atRate = (rate: Partial<RatePlan> = {}, concurrency: number | null = null): LoadPlan => ({
  ...LIMITS,
  concurrency,
  arrivals: { ...RATE, ...rate },
});
const traced = (part: Partial<TracePlan> = {}): LoadPlan => ({
  ...LIMITS,
  concurrency: null,
  arrivals: { ...FIXED, ...part },
});

describe('the hash of the plan', () => {
  const hash = (changes: Changes, dataset = DATASET) => plannedLoad(request(changes), dataset).planSha256;

  test('of a closed loop: the dataset decides all', () => {
    expect(hash({})).toBe(DATASET.planSha256);
    expect(hash({ load: { ...CLOSED, concurrency: 9 } })).toBe(DATASET.planSha256);
  });

  test('at a rate: the arrivals are in it, and the same seed gives the same', () => {
    const plain = hash({ load: atRate() });
    expect(hash({ load: atRate() })).toBe(plain);
    const others = [
      hash({}),
      hash({ load: atRate({ seed: 2 }) }),
      hash({ load: atRate({ requestRate: 3 }) }),
      hash({ load: atRate({ pattern: 'constant' }) }),
      hash({ load: atRate({ pattern: 'gamma', smoothness: 2 }) }),
      hash({ load: atRate({ rampSeconds: 5 }) }),
      hash({ load: atRate() }, { ...DATASET, planSha256: 'b'.repeat(64) }),
    ];
    expect(new Set([plain, ...others]).size).toBe(8);
  });

  test('a limit of requests in flight does not change what was planned', () => {
    expect(hash({ load: atRate({}, 8) })).toBe(hash({ load: atRate() }));
  });

  test('of a trace: its part and its times', () => {
    const whole = hash({ load: traced() }, TRACE);
    expect(hash({ load: traced({ startOffset_ms: 1000 }) }, TRACE)).not.toBe(whole);
    expect(whole).not.toBe(TRACE.planSha256);
  });
});

describe('the plan', () => {
  test('a trace ends with its last request, or with the count before', () => {
    const count = (requestCount: number | null) =>
      plannedLoad(request({ requestCount, load: traced() }), TRACE).measure.requestCount;
    expect([count(null), count(2), count(9)]).toEqual([3, 2, 3]);
  });

  test('a trace is replayed faster; its part is chosen by its own times', () => {
    const { dataset } = plannedLoad(request({ load: traced({ startOffset_ms: 1000, speedup: 4 }) }), TRACE);
    expect([...(dataset.due_ns ?? [])]).toEqual([0, 0.25e9]);
  });

  test('conversations are sent to their ends, from the part of a schedule too', () => {
    const of = (requests: number) => ({ requests }) as ReturnType<NonNullable<Dataset['conversation']>>;
    const sessions: Dataset = { ...TRACE, conversation: (_phase, position) => of(position + 1) };
    const count = (changes: Changes, dataset = sessions) =>
      plannedLoad(request({ requestCount: null, ...changes }), dataset).measure.requestCount;
    const whole = { ...request({}).measure, requestCount: null, conversationCount: 4 };
    expect(count({ measure: whole } as Changes)).toBe(1 + 2 + 3 + 4);
    expect(count({ load: traced() })).toBe(1 + 2 + 3);
    // The second and the third.
    expect(count({ load: traced({ startOffset_ms: 1000 }) })).toBe(2 + 3);
    expect(() => count({ measure: whole } as Changes, DATASET)).toThrow('--conversation-num requires conversations');
  });

  test('a fixed schedule of an input without times is refused', () => {
    const planned = () => plannedLoad(request({ load: traced() }), DATASET);
    expect(planned).toThrow(ExpectedError);
    expect(planned).toThrow('--fixed-schedule: the input has no timestamps');
  });
});

describe('the key of comparison', () => {
  const load = (changes: Changes, dataset = DATASET) =>
    comparisonKey(request(changes), 'chat', plannedLoad(request(changes), dataset)).load;
  const NOTHING = {
    concurrency: null,
    concurrency_ramp_seconds: null,
    prefill_concurrency: null,
    prefill_concurrency_ramp_seconds: null,
    request_rate: null,
    request_rate_ramp_seconds: null,
    arrival_pattern: null,
    arrival_smoothness: null,
  };

  test('the text of a load', () => {
    expect(load({ load: { ...CLOSED, concurrencyRampSeconds: 5, prefillConcurrency: 2 } })).toEqual({
      ...NOTHING,
      mode: 'concurrency',
      concurrency: 4,
      concurrency_ramp_seconds: 5,
      prefill_concurrency: 2,
    });
    expect(load({ load: atRate({ pattern: 'gamma', smoothness: 0.5, rampSeconds: 3 }, 64) })).toEqual({
      ...NOTHING,
      mode: 'request_rate',
      concurrency: 64,
      request_rate: 2.5,
      request_rate_ramp_seconds: 3,
      arrival_pattern: 'gamma',
      arrival_smoothness: 0.5,
    });
    expect(load({ load: traced() }, TRACE)).toEqual({ ...NOTHING, mode: 'trace' });
  });

  test('warm-up and cancellation', () => {
    const warmup = { load: atRate(), requestCount: null, durationSeconds: 5, gracePeriodSeconds: 1 };
    const changes = { warmup, cancellation: { ratio: 0.1, delaySeconds: 2 } };
    const key = comparisonKey(request(changes), 'chat', plannedLoad(request(changes), DATASET));
    expect(key.warmup).toMatchObject({ request_count: null, duration_seconds: 5, load: { mode: 'request_rate' } });
    expect(key.cancellation).toEqual({ ratio: 0.1, delay_seconds: 2 });
  });
});

describe('what is announced', () => {
  const line = (changes: Changes, dataset = DATASET) =>
    announcement(request(changes), 'http://h', plannedLoad(request(changes), dataset));

  test.each([
    [{}, 'm at http://h: 10 requests, concurrency 4, at most 80 output tokens'],
    [
      { requestCount: null, durationSeconds: 60, load: { ...CLOSED, prefillConcurrency: 2 } },
      'm at http://h: requests for 60 s, concurrency 4, prefill concurrency up to 2, at most 8 output tokens each',
    ],
    [
      { requestCount: null, durationSeconds: 60, maxOutputTokensTotal: 5000, load: atRate({}, 32) },
      'm at http://h: requests for 60 s, 2.5 requests/s (poisson), concurrency up to 32, at most 5,000 output tokens',
    ],
    [
      { warmup: { load: CLOSED, requestCount: 5, durationSeconds: null, gracePeriodSeconds: 1 } },
      'm at http://h: warm-up of 5 requests, concurrency 4, then 10 requests, concurrency 4, at most 120 output tokens',
    ],
  ] as const)('%j', (changes, expected) => expect(line(changes)).toBe(expected));

  test('a trace', () => {
    const changes = { requestCount: null, load: traced() };
    expect(line(changes, TRACE)).toBe('m at http://h: 3 requests, at the times of the trace, at most 24 output tokens');
  });
});

const trace = (...due_seconds: number[]): Dataset => ({
  planSha256: '',
  size: due_seconds.length,
  due_ns: Float64Array.from(due_seconds, (seconds) => Math.round(seconds * 1e9)),
  request: (phase, position) => ({ prompt: `${phase} ${position}`, max_tokens: 1 }),
});
const TIMES = trace(2, 2, 2.5, 10, 10.0000001);

describe('the part of a trace that is sent, and when', () => {
  test.each([
    ['all of it, from its zero', {}, [2e9, 2e9, 2.5e9, 10e9, 10_000_000_100], 0],
    ['from its first request', { autoOffset: true }, [0, 0, 0.5e9, 8e9, 8_000_000_100], 0],
    ['from a start on', { startOffset_ms: 2500 }, [0, 7.5e9, 7_500_000_100], 2],
    ['to an end, inclusive', { endOffset_ms: 10_000 }, [2e9, 2e9, 2.5e9, 10e9], 0],
    ['a part', { startOffset_ms: 2001, endOffset_ms: 9000 }, [499e6], 2],
  ])('%s', (_, part, offsets_ns, first) => {
    const { dataset } = plannedLoad(request({ load: traced(part) }), TIMES);
    expect([...(dataset.due_ns ?? [])]).toEqual(offsets_ns);
    expect(dataset.request('measure', 0).prompt).toBe(`measure ${first}`);
    expect(dataset.request('warmup', 0).prompt).toBe('warmup 0');
  });

  test.each([
    ['nothing in the part', TIMES, { startOffset_ms: 3000, endOffset_ms: 9000 }, 'no request of the input'],
    ['an empty trace', trace(), {}, 'no request of the input'],
    ['times that descend', trace(1, 3, 2), {}, 'request 3 of the input has a lower timestamp than the one before it'],
    ['no times', { ...TIMES, due_ns: undefined }, {}, 'no timestamps'],
  ])('%s is refused', (_, dataset, part, message) => {
    expect(() => plannedLoad(request({ load: traced(part) }), dataset as Dataset)).toThrow(message);
  });
});
