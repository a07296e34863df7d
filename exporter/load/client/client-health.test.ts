import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NOT_COUNTED, NOT_TRACED } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { ClientHealthMonitor } from './client-health.ts';
import { LatencyBins } from './latency-bins.ts';

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
