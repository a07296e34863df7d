import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import { Engine } from '../engine/engine.ts';
import { VllmProfile } from './profile.ts';
import { readPage } from '../metrics/testing/read-page.ts';

const MS = 1e6;

// Each run writes and parses a whole page.
const RUNS = { numRuns: 30 };

/** Runs a load and returns the resulting page with the true counts. */
function run(requests: readonly DrawnRequest[], until_ns: number) {
  const profile = new VllmProfile({ modelName: 'm', parameters: TIGHT_PARAMETERS });
  const happened = runLoad(requests, until_ns, { profile });
  return { page: readPage(profile.metricsPage(happened.state)), ...happened };
}

const AT_FINISH = [
  'request_prompt_tokens',
  'request_generation_tokens',
  'request_max_num_generation_tokens',
  'request_params_n',
  'request_time_per_output_token_seconds',
  'e2e_request_latency_seconds',
  'request_queue_time_seconds',
  'request_inference_time_seconds',
  'request_prefill_time_seconds',
  'request_decode_time_seconds',
  'request_num_preemptions',
  'request_prefill_kv_computed_tokens',
];

describe('at any moment of any load', () => {
  test('token counters are the tokens of the events, and agree with each other', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { page, events } = run(requests, until_ns);
        const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
        const first = tokens.filter((token) => token.index === 0);
        const prompt = first.reduce((sum, { request }) => sum + request.promptTokens, 0);
        const cached = first.reduce((sum, { request }) => sum + request.cachedTokens, 0);
        expect(page.value('vllm:generation_tokens_total')).toBe(tokens.length);
        expect(page.histogram('vllm:time_to_first_token_seconds').count).toBe(first.length);
        expect(page.histogram('vllm:inter_token_latency_seconds').count).toBe(tokens.length - first.length);
        expect(page.value('vllm:prompt_tokens_total')).toBe(prompt);
        expect(page.value('vllm:prompt_tokens_cached_total')).toBe(cached);
        expect(page.value('vllm:prompt_tokens_by_source_total', { source: 'local_cache_hit' })).toBe(cached);
        expect(page.value('vllm:prompt_tokens_by_source_total', { source: 'local_compute' })).toBe(prompt - cached);
        expect(page.histogram('vllm:iteration_tokens_total').sum).toBe(prompt - cached + tokens.length);
        expect(page.histogram('vllm:iteration_tokens_total').count).toBe(new Set(tokens.map((t) => t.time_ns)).size);
      }),
      RUNS,
    );
  });

  test('figures of whole requests are those of finished ones; an aborted one is in none of them', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { page, events } = run(requests, until_ns);
        const finished = events.flatMap((event) => (event.kind === 'finished' ? [event.request] : []));
        for (const name of AT_FINISH) expect(page.histogram(`vllm:${name}`).count).toBe(finished.length);
        const limited = finished.filter((request) => request.finishReason === 'length');
        expect(page.value('vllm:request_success_total', { finished_reason: 'length' })).toBe(limited.length);
        expect(page.value('vllm:request_success_total', { finished_reason: 'stop' })).toBe(
          finished.length - limited.length,
        );
        expect(page.value('vllm:request_success_total', { finished_reason: 'abort' })).toBe(0);
        expect(page.histogram('vllm:request_params_max_tokens').count).toBe(limited.length);
        const generated = finished.reduce((sum, request) => sum + request.generatedTokens, 0);
        expect(page.histogram('vllm:request_generation_tokens').sum).toBe(generated);
        const seconds = (name: string): number => page.histogram(`vllm:${name}_seconds`).sum ?? NaN;
        expect(seconds('request_prefill_time') + seconds('request_decode_time')).toBeCloseTo(
          seconds('request_inference_time'),
          6,
        );
        expect(seconds('request_queue_time') + seconds('request_inference_time')).toBeCloseTo(
          seconds('e2e_request_latency'),
          6,
        );
      }),
      RUNS,
    );
  });

  test('gauges are the state of the engine, and running + waiting is what is in flight', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
        const { page, events, state } = run(requests, until_ns);
        const ended = events.filter((event) => event.kind === 'finished' || event.kind === 'aborted').length;
        const arrived = requests.filter((request) => request.arrival_ns <= until_ns).length;
        const running = page.value('vllm:num_requests_running');
        const waiting = page.value('vllm:num_requests_waiting');
        expect(running + waiting).toBe(arrived - ended);
        expect(page.value('vllm:num_requests_waiting_by_reason', { reason: 'capacity' })).toBe(waiting);
        expect(page.value('vllm:kv_cache_usage_perc')).toBe(state.usedKvBlocks / TIGHT_PARAMETERS.numKvBlocks);
        const preempted = events.filter((event) => event.kind === 'preempted').length;
        expect(page.value('vllm:num_preemptions_total')).toBe(preempted);
        const scheduled = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
        const queried = scheduled.reduce((sum, request) => sum + request.promptTokens, 0);
        const hits = scheduled.reduce((sum, request) => sum + request.cachedTokens, 0);
        expect(page.value('vllm:prefix_cache_queries_total')).toBe(queried);
        expect(page.value('vllm:prefix_cache_hits_total')).toBe(hits);
        expect(page.value('vllm:prompt_tokens_cached_by_source_total', { source: 'device' })).toBe(hits);
      }),
      RUNS,
    );
  });
});

test('one request, calculated by hand', () => {
  const parameters = { ...TIGHT_PARAMETERS, jitterRatio: 0 };
  const engine = new Engine(parameters);
  const profile = new VllmProfile({ modelName: 'm', parameters });
  engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 3 });
  profile.observe(engine.advanceTo(1000 * MS));
  const page = readPage(profile.metricsPage(engine.state));
  // 10 + 8 = 18 ms to the first token, then two steps of 10 + 1 ms.
  expect(page.histogram('vllm:time_to_first_token_seconds').sum).toBeCloseTo(0.018, 12);
  expect(page.histogram('vllm:inter_token_latency_seconds').sum).toBeCloseTo(0.022, 12);
  expect(page.histogram('vllm:request_time_per_output_token_seconds').sum).toBeCloseTo(0.011, 12);
  expect(page.histogram('vllm:e2e_request_latency_seconds').sum).toBeCloseTo(0.04, 12);
  expect(page.histogram('vllm:request_queue_time_seconds').sum).toBe(0);
  expect(page.histogram('vllm:iteration_tokens_total').sum).toBe(11);
  const { bounds, counts } = page.histogram('vllm:time_to_first_token_seconds');
  expect(counts[bounds.indexOf(0.01)]).toBe(0);
  expect(counts[bounds.indexOf(0.02)]).toBe(1);
});

test('tokens that an offload tier brought back are external hits, and no others', () => {
  const parameters = {
    ...TIGHT_PARAMETERS,
    offloadTiers: [{ name: 'host', blocks: 30, loadMillisecondsPerBlock: 0.5 }],
  };
  fc.assert(
    fc.property(drawnRequests, drawnMoment, (requests, until_ns) => {
      const profile = new VllmProfile({ modelName: 'm', parameters });
      const { events, state } = runLoad(requests, until_ns, { profile, parameters });
      const { value } = readPage(profile.metricsPage(state));
      const scheduled = events.flatMap((e) => (e.kind === 'scheduled' && !e.resumed ? [e.request] : []));
      const external = scheduled.reduce((sum, { offloadedTokens: [host = 0] }) => sum + host, 0);
      const hits = value('vllm:prefix_cache_hits_total');
      expect(value('vllm:external_prefix_cache_hits_total')).toBe(external);
      expect(hits + external).toBe(scheduled.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0));
      const queries = value('vllm:prefix_cache_queries_total');
      expect(value('vllm:external_prefix_cache_queries_total')).toBe(queries - hits);
      const bySource = ['local_compute', 'local_cache_hit', 'external_kv_transfer'].map((source) =>
        value('vllm:prompt_tokens_by_source_total', { source }),
      );
      expect(bySource.reduce((sum, tokens) => sum + tokens, 0)).toBe(value('vllm:prompt_tokens_total'));
    }),
    RUNS,
  );
});
