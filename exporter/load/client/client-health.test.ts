import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NOT_COUNTED, NOT_TRACED, type RequestRecord } from '../../../core/run/record.ts';
import { ClientHealthMonitor, LatencyBins, clientVerdict, EventLoopDelays } from './client-health.ts';

describe('LatencyBins', () => {
  test('quantiles are within 1.1 % of the exact ones', () => {
    const values = fc.array(fc.double({ min: 1, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(values, fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1), (sample, q) => {
        const bins = new LatencyBins();
        for (const value of sample) bins.add(value);
        const exact = [...sample].sort((a, b) => a - b)[Math.ceil(q * sample.length) - 1] ?? NaN;
        expect(Math.abs((bins.quantile(q) ?? NaN) / exact - 1)).toBeLessThan(0.011);
        expect(bins.max).toBe(Math.max(...sample));
      }),
    );
  });

  test('values above a limit are counted to within one bin', () => {
    const bins = new LatencyBins();
    for (const value of [0, 1, 4.8e6, 5.3e6, 60e6]) bins.add(value);
    expect([bins.countAbove(5e6), bins.countAbove(60e6), bins.countAbove(1e12)]).toEqual([2, 0, 0]);
  });

  test('empty is unknown; zero counts as the smallest', () => {
    const bins = new LatencyBins();
    expect([bins.quantile(0.5), bins.max]).toEqual([null, null]);
    bins.add(0);
    expect([bins.quantile(0.5), bins.max, bins.count]).toEqual([0, 0, 1]);
  });
});

describe('ClientHealthMonitor', () => {
  const ok = (last_content_ns: number): RequestRecord => ({
    index: 0,
    phase: 'measure',
    due_ns: 0,
    sent_ns: 0,
    first_content_ns: 0,
    first_output_ns: 0,
    last_content_ns,
    end_ns: last_content_ns,
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: 'ok',
    reason: null,
    http_status: 200,
    input_tokens: 1,
    input_tokens_source: 'usage',
    output_tokens: 11,
    output_tokens_source: 'usage',
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: 11,
    chunk_offsets_ns: [],
    ...NOT_TRACED,
    ...NOT_COUNTED,
  });

  test('a loop blocked for longer than a token takes is saturated, and the observers are notified', () => {
    const reported: boolean[] = [];
    const delays: number[] = [];
    const monitor = new ClientHealthMonitor([
      { clientSaturated: (saturated) => reported.push(saturated), eventLoopDelay: (delay) => delays.push(delay) },
    ]);
    monitor.phaseStarted('measure');
    monitor.requestEnded(ok(100e6)); // 10 ms a token
    const until = process.hrtime.bigint() + 60_000_000n;
    while (process.hrtime.bigint() < until);
    monitor.phaseEnded('measure');
    expect(reported).toEqual([true]);
    expect(delays).toHaveLength(1);
    const { verdict, event_loop_delay_max_seconds, cpu_seconds } = monitor.result();
    expect(verdict).toBe('saturated');
    expect(event_loop_delay_max_seconds).toBeGreaterThan(0.045);
    expect(cpu_seconds).toBeGreaterThan(0);
  });

  test('the warm-up is not judged', () => {
    const monitor = new ClientHealthMonitor([]);
    monitor.phaseStarted('warmup');
    monitor.phaseEnded('warmup');
    expect(monitor.result()).toMatchObject({
      verdict: 'unknown',
      event_loop_delay_p99_seconds: null,
      cpu_seconds: null,
    });
  });
});

const MS = 1e6;

/** A loop that was so late at so many samples. */
function loop(...samples: readonly (readonly [times: number, delay_ms: number])[]): EventLoopDelays {
  const delays = new EventLoopDelays();
  for (const [times, delay_ms] of samples) for (let i = 0; i < times; i++) delays.add(delay_ms * MS);
  return delays;
}

describe('how late a loop was, over the time', () => {
  test('samples missing because of a pause are filled in', () => {
    // Asked every 10 ms of the 110 that lie between two responses: 100, 90, … 0 ms late. Ten of 21 are later than 5 ms.
    const delays = loop([10, 0.1], [1, 100]);
    expect([delays.count, delays.pausesLongerThan(5 * MS), delays.shareLaterThan(5 * MS)]).toEqual([11, 1, 10 / 21]);
    expect((delays.p99_ns ?? 0) / MS).toBeCloseTo(100, 0);
    expect(delays.max_ns).toBe(100 * MS);
  });

  test('a loop without samples has no statistics', () => {
    expect([loop().count, loop().p99_ns, loop().max_ns, loop().shareLaterThan(0)]).toEqual([0, null, null, 0]);
  });
});

describe('clientVerdict', () => {
  test.each([
    ['a quiet loop', loop([1000, 0.2]), 20],
    // What made readers stop believing it: the timer's own resolution, a hair above 2 ms.
    ['p99 at what a timer resolves', loop([980, 0.2], [20, 2.07]), 5],
    ['a few pauses in a short run', loop([45, 0.2], [4, 8]), 20],
    ['one collection of garbage in a run of a second', loop([95, 0.2], [1, 50]), 20],
    ['a hundredth of the time, and nothing clear beyond it', loop([985, 0.2], [15, 6]), 20],
    ['within 5 % of a slow model', loop([1000, 9]), 200],
  ])('%s is ok', (_name, delays, interTokenLatency_ms) => {
    expect(clientVerdict(delays, interTokenLatency_ms * MS)).toEqual({ verdict: 'ok', why: null });
  });

  test('a loop that is late all the time, as the 130 ms by which AIPerf is, is saturated in a run of a second', () => {
    const { verdict, why } = clientVerdict(loop([7, 130]), 20 * MS);
    expect(verdict).toBe('saturated');
    expect(why).toMatch(/^p99 event-loop delay 1[23]\d ms > 5 ms \(exceeded for 93 % of the time, in 7 pauses\)$/);
  });

  test('later than 5 % of the inter-token latency of a slow model', () => {
    const { verdict, why } = clientVerdict(loop([900, 1], [40, 38]), 60 * MS);
    expect(verdict).toBe('saturated');
    expect(why).toMatch(/^p99 event-loop delay 3\d(\.\d)? ms > 5 ms \(/);
    expect(clientVerdict(loop([900, 1], [40, 38]), 400 * MS).why).toContain(
      ' > 5 % of p50 inter-token latency 400 ms (exceeded for',
    );
  });

  test('long pauses are weighted by their duration, not by their number', () => {
    // Ten of half a second in 100 s: one sample in a thousand, a twentieth of the time.
    const { verdict, why } = clientVerdict(loop([9500, 0.2], [10, 500]), 20 * MS);
    expect(verdict).toBe('saturated');
    expect(why).toContain('in 10 pauses');
  });

  test('one pause that takes most of the time makes the loop saturated', () => {
    expect(clientVerdict(loop([1, 50]), 10 * MS).why).toContain('in 1 pause)');
  });

  test.each([
    ['not sampled', loop(), 5, 'the event-loop delay was not sampled'],
    [
      'nothing to compare with',
      loop([100, 1]),
      null,
      'no request has an inter-token latency to compare the event-loop delay with',
    ],
  ])('%s: unknown', (_name, delays, latency_ms, why) => {
    expect(clientVerdict(delays, latency_ms && latency_ms * MS)).toEqual({ verdict: 'unknown', why });
  });
});
