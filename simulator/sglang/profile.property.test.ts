import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { SglangProfile } from './profile.ts';

// Each run writes and parses a whole page.
const RUNS = { numRuns: 20 };

const parameters: EngineParameters = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [
    { name: 'host', blocks: 8, loadMillisecondsPerBlock: 0.5 },
    { name: 'storage', blocks: 30, loadMillisecondsPerBlock: 2 },
  ],
};

function run(requests: readonly DrawnRequest[], until_ns: number) {
  const profile = new SglangProfile({ modelName: 'm', parameters, switches: false });
  const happened = runLoad(requests, until_ns, { profile, parameters });
  const page = readPage(profile.metricsPage(happened.state));
  /** The value, or 0 where nothing has made the series yet. */
  const value = (name: string, labels = {}): number => page.sum(`sglang:${name}`, labels);
  return { value, page, ...happened };
}

const total = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

describe('at any moment of any load', () => {
  test('requests: what is counted at the end is of finished requests, aborted ones are in none of it', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events } = run(requests, until_ns);
        const finished = events.flatMap((event) => (event.kind === 'finished' ? [event.request] : []));
        const aborted = events.filter((event) => event.kind === 'aborted');
        for (const streaming of [true, false]) {
          const own = finished.filter((request) => request.streaming === streaming);
          const labels = { is_streaming: `${streaming}` };
          expect(value('num_requests_total', labels)).toBe(own.length);
          expect(value('e2e_request_latency_seconds_count', labels)).toBe(own.length);
          expect(value('prompt_tokens_total', labels)).toBe(total(own, ({ promptTokens }) => promptTokens));
          expect(value('generation_tokens_total', labels)).toBe(total(own, ({ generatedTokens }) => generatedTokens));
          expect(value('request_time_per_output_token_seconds_count', labels)).toBe(
            own.filter(({ generatedTokens }) => generatedTokens > 1).length,
          );
        }
        expect(value('prompt_tokens_histogram_sum')).toBe(value('prompt_tokens_total'));
        expect(value('generation_tokens_histogram_sum')).toBe(value('generation_tokens_total'));
        expect(value('cached_tokens_total')).toBe(total(finished, ({ cachedTokens }) => cachedTokens));
        expect(value('uncached_prompt_tokens_histogram_sum') + value('cached_tokens_total')).toBe(
          value('prompt_tokens_total'),
        );
        expect(value('num_aborted_requests_total')).toBe(aborted.length);
      }),
      RUNS,
    );
  });

  test('tokens: realtime counters are the tokens of the events; first tokens and gaps are those of streams', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events } = run(requests, until_ns);
        const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
        const streamed = tokens.filter(({ request }) => request.streaming);
        const steps = events.flatMap((event) => (event.kind === 'step' ? [event] : []));
        const first = streamed.filter(({ index }) => index === 0);
        expect(value('realtime_tokens_total', { mode: 'decode' })).toBe(tokens.length);
        expect(value('realtime_tokens_total', { mode: 'prefill_compute' })).toBe(
          total(steps, ({ prefillTokens }) => prefillTokens),
        );
        expect(value('time_to_first_token_seconds_count')).toBe(first.length);
        expect(value('inter_token_latency_seconds_count')).toBe(streamed.length - first.length);
        expect(value('forward_execution_seconds_total')).toBeCloseTo(
          total(steps, ({ start_ns, time_ns }) => time_ns - start_ns) / 1e9,
          6,
        );
      }),
      RUNS,
    );
  });

  test('the cache: each prompt token is input or a hit of one tier; the three parts of the pool fill it', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events, state } = run(requests, until_ns);
        const scheduled = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
        const effective = (mode: string): number => value('prefill_effective_tokens_total', { mode });
        expect(value('prefill_effective_tokens_total')).toBe(total(scheduled, ({ promptTokens }) => promptTokens));
        expect(effective('device_hit') + effective('host_hit') + effective('storage_hit')).toBe(
          total(scheduled, ({ cachedTokens }) => cachedTokens),
        );
        expect(value('queue_time_seconds_count')).toBe(scheduled.length);
        if (!events.some((event) => 'request' in event)) return;
        const size = state.numKvBlocks * parameters.blockSize;
        expect(value('kv_available_tokens') + value('kv_evictable_tokens') + value('kv_used_tokens')).toBe(size);
        expect(value('max_total_num_tokens')).toBe(size);
        for (const part of ['kv_available_tokens', 'kv_evictable_tokens', 'kv_used_tokens']) {
          expect(value(part)).toBeGreaterThanOrEqual(0);
        }
        expect(value('token_usage')).toBe(value('num_used_tokens') / size);
        expect(value('hicache_host_used_tokens')).toBeLessThanOrEqual(value('hicache_host_total_tokens'));
        const evicted = total(events, (event) => (event.kind === 'kv-traffic' ? event.evicted : 0));
        expect(value('evicted_tokens_total')).toBe(evicted * parameters.blockSize);
      }),
      RUNS,
    );
  });

  test('queue and batch: running + queued is what is in flight, retractions are counted', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events, state } = run(requests, until_ns);
        if (!events.some((event) => 'request' in event)) return;
        const ended = events.filter(({ kind }) => kind === 'finished' || kind === 'aborted').length;
        const arrived = requests.filter(({ arrival_ns }) => arrival_ns <= until_ns).length;
        const preempted = events.flatMap((event) => (event.kind === 'preempted' ? [event] : []));
        expect(value('num_running_reqs') + value('num_queue_reqs')).toBe(arrived - ended);
        expect(value('num_running_reqs')).toBe(state.running);
        expect(value('num_retracted_requests_total')).toBe(preempted.length);
        expect(value('num_retracted_output_tokens_total')).toBe(total(preempted, (event) => event.generatedTokens));
        expect(value('num_retracted_reqs')).toBeLessThanOrEqual(value('num_queue_reqs'));
      }),
      RUNS,
    );
  });

  test('time: idle and stages add up to what has passed', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { value, events, state } = run(requests, until_ns);
        // A step in progress is counted when it ends.
        const lastStep_ns = events.findLast((event) => event.kind === 'step')?.time_ns ?? 0;
        expect(value('scheduler_stage_seconds_total')).toBeCloseTo(state.now_ns / 1e9, 6);
        expect(value('scheduler_idle_seconds_total')).toBeLessThanOrEqual(until_ns / 1e9 + 1e-9);
        expect(lastStep_ns).toBeLessThanOrEqual(until_ns);
      }),
      RUNS,
    );
  });
});
