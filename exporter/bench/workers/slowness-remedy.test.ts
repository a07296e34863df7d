import { expect, test } from '@jest/globals';
import type { ClientHealth } from '../../../core/run/result.ts';
import { withRemedy } from './slowness-remedy.ts';

const saturated: ClientHealth = {
  verdict: 'saturated',
  why: 'p99 event-loop delay 38 ms > 5 % of p50 inter-token latency 20 ms',
  event_loop_delay_p99_seconds: 0.038,
  event_loop_delay_max_seconds: 0.05,
  cpu_seconds: 3,
};

test.each([
  [1, 8, 'use --workers 2'],
  [2, 8, 'use --workers 4'],
  [4, 8, 'use --workers 7'],
  [7, 8, "7 workers are what this machine's 8 cores can take: use a larger one, or several with --shard"],
  [1, 2, "one worker is what this machine's 2 cores can take: use a larger one, or several with --shard"],
])('%i workers on %i cores: %s', (workers, cores, remedy) => {
  expect(withRemedy(saturated, workers, cores).why).toBe(`${saturated.why}: ${remedy}`);
});

test('a client that was quick enough needs none', () => {
  const ok: ClientHealth = { ...saturated, verdict: 'ok', why: null };
  expect(withRemedy(ok, 1, 8)).toBe(ok);
});
