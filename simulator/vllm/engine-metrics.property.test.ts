import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Engine } from '../engine/engine.ts';
import type { EngineEvent, EngineRequest } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { VllmFace } from './face.ts';
import { readVllmPage } from './read-page.ts';

const MS = 1e6;

// Each run writes and parses a whole page.
const RUNS = { numRuns: 30 };

/** Small enough that requests queue, prompts are chunked, blocks run out and prefixes are found. */
const TIGHT: EngineParameters = {
  maxNumSeqs: 4,
  maxNumBatchedTokens: 32,
  maxModelLen: 64,
  numKvBlocks: 20,
  blockSize: 4,
  enablePrefixCaching: true,
  prefillMillisecondsPerToken: 1,
  stepBaseMilliseconds: 10,
  decodeMillisecondsPerSequence: 1,
  jitterRatio: 0.1,
  offloadTiers: [],
  stall: null,
  seed: 7,
};

interface DrawnRequest extends Omit<EngineRequest, 'id'> {
  readonly abortAfter_ns: number | null;
}

const drawnRequests: fc.Arbitrary<DrawnRequest[]> = fc.array(
  fc.record({
    arrival_ns: fc.integer({ min: 0, max: 500 * MS }),
    promptTokens: fc.integer({ min: 1, max: 40 }),
    outputTokens: fc.integer({ min: 1, max: 20 }),
    finishReason: fc.constantFrom('length' as const, 'stop' as const),
    abortAfter_ns: fc.option(fc.integer({ min: 1, max: 400 * MS })),
  }),
  { minLength: 1, maxLength: 20 },
);

/** Runs a load to `until_ns` in portions of 25 ms, and tells what the page then is and what really happened. */
function run(requests: readonly DrawnRequest[], until_ns: number) {
  const engine = new Engine(TIGHT);
  const face = new VllmFace('m', TIGHT);
  requests.forEach(({ abortAfter_ns, ...request }, i) => {
    const id = `r${i}`;
    const promptBlockHashes = Array.from({ length: Math.floor(request.promptTokens / TIGHT.blockSize) }, (_, k) => k);
    engine.submit({ id, ...request, promptBlockHashes });
    if (abortAfter_ns !== null) engine.abort(id, request.arrival_ns + abortAfter_ns);
  });
  const events: EngineEvent[] = [];
  for (let t = 25 * MS; t <= until_ns; t += 25 * MS) {
    const portion = engine.advanceTo(t);
    face.observe(portion);
    events.push(...portion);
  }
  return { page: readVllmPage(face.metricsPage(engine.state)), events, state: engine.state };
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
  const moment = fc.integer({ min: 1, max: 120 }).map((n) => n * 25 * MS);

  test('token counters are the tokens of the events, and agree with each other', () => {
    fc.assert(
      fc.property(drawnRequests, moment, (requests, until_ns) => {
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
      fc.property(drawnRequests, moment, (requests, until_ns) => {
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
      fc.property(drawnRequests, moment, (requests, until_ns) => {
        const { page, events, state } = run(requests, until_ns);
        const ended = events.filter((event) => event.kind === 'finished' || event.kind === 'aborted').length;
        const arrived = requests.filter((request) => request.arrival_ns <= until_ns).length;
        const running = page.value('vllm:num_requests_running');
        const waiting = page.value('vllm:num_requests_waiting');
        expect(running + waiting).toBe(arrived - ended);
        expect(page.value('vllm:num_requests_waiting_by_reason', { reason: 'capacity' })).toBe(waiting);
        expect(page.value('vllm:kv_cache_usage_perc')).toBe(state.usedKvBlocks / TIGHT.numKvBlocks);
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

test('one request, added up by hand', () => {
  const parameters = { ...TIGHT, jitterRatio: 0 };
  const engine = new Engine(parameters);
  const face = new VllmFace('m', parameters);
  engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 8, outputTokens: 3 });
  face.observe(engine.advanceTo(1000 * MS));
  const page = readVllmPage(face.metricsPage(engine.state));
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
