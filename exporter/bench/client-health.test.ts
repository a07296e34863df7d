import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NOT_TRACED } from '../../core/run/record.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { ClientHealthMonitor, clientVerdict } from './client-health.ts';
import { LatencyBins } from './latency-bins.ts';

describe('clientVerdict', () => {
  test.each([
    ['within 5 %', 4.9e6, 100e6, 'ok', null],
    ['beyond 5 %', 38e6, 100e6, 'saturated', 'p99 event-loop delay 38 ms > 5 % of p50 inter-token latency 100 ms'],
    ['within what a timer resolves', 1.9e6, 5e6, 'ok', null],
    [
      'beyond it, for short latencies',
      3e6,
      5e6,
      'saturated',
      "p99 event-loop delay 3 ms > 2 ms, the timer's resolution (5 % of p50 inter-token latency is 0.25 ms)",
    ],
    ['not sampled', null, 5e6, 'unknown', 'the event-loop delay was not sampled'],
    [
      'nothing to compare with',
      1e6,
      null,
      'unknown',
      'no request has an inter-token latency to judge the event-loop delay by',
    ],
  ])('%s', (_name, delay, latency, verdict, why) => {
    expect(clientVerdict(delay, latency)).toEqual({ verdict, why });
  });
});

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
  });

  test('a loop blocked for longer than a token takes is saturated, and the observers learn it', () => {
    const told: boolean[] = [];
    const delays: number[] = [];
    const monitor = new ClientHealthMonitor([
      { clientSaturated: (saturated) => told.push(saturated), eventLoopDelay: (delay) => delays.push(delay) },
    ]);
    monitor.phaseStarted('measure');
    monitor.requestEnded(ok(100e6)); // 10 ms a token
    const until = process.hrtime.bigint() + 60_000_000n;
    while (process.hrtime.bigint() < until);
    monitor.phaseEnded('measure');
    expect(told).toEqual([true]);
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
