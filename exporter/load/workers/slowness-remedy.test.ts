import { expect, test } from '@jest/globals';
import type { ClientHealth } from '../../../core/run/result.ts';
import { withRemedy } from './slowness-remedy.ts';

const saturated: ClientHealth = {
  verdict: 'saturated',
  why: 'p99 event-loop delay 38 ms > 5 % of p50 inter-token latency 20 ms',
  event_loop_delay_p99_seconds: 0.038,
  event_loop_delay_max_seconds: 0.05,
  cpu_seconds: 9,
};

test.each([
  [1, 8, 'use --workers 2'],
  [2, 8, 'use --workers 4'],
  [4, 8, 'use --workers 7'],
  [7, 8, "7 workers are the limit of this machine's 8 cores: use a larger machine, or several with --shard"],
  [1, 2, "one worker is the limit of this machine's 2 cores: use a larger machine, or several with --shard"],
])('%i busy workers on %i cores: %s', (workers, cores, remedy) => {
  const health = { ...saturated, cpu_seconds: 9 * workers };
  expect(withRemedy(health, { workers, cores, seconds: 10 }).why).toBe(`${saturated.why}: ${remedy}`);
});

test.each([
  [1, 2, 20],
  [4, 19, 190],
])('%i workers that used %f s of 10 had to wait for others', (workers, cpu_seconds, percent) => {
  const { why } = withRemedy({ ...saturated, cpu_seconds }, { workers, cores: 8, seconds: 10 });
  expect(why).toContain(`it used only ${percent} % of a core, so other programs on this machine kept it waiting`);
  expect(why).not.toContain('--workers');
});

test('with unknown CPU time, more workers are not suggested', () => {
  for (const [cpu_seconds, seconds] of [
    [null, 10],
    [9, null],
  ] as const) {
    const { why } = withRemedy({ ...saturated, cpu_seconds }, { workers: 1, cores: 8, seconds });
    expect(why).toContain('its CPU time is not known');
    expect(why).not.toContain('--workers');
  }
});

test('a client that was fast enough requires no remedy', () => {
  const ok: ClientHealth = { ...saturated, verdict: 'ok', why: null };
  expect(withRemedy(ok, { workers: 1, cores: 8, seconds: 10 })).toBe(ok);
});
