import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests, runLoad } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import { MonotonicClock } from '../http/engine-driver.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { tritonFamilies } from './start.ts';
import { TritonModel } from './model.ts';
import type { TritonBackend } from './model.ts';

const RUNS = { numRuns: 25 };

/** Runs a load and returns the resulting page with the true counts. */
function run(backend: TritonBackend, load: readonly DrawnRequest[], until_ns: number) {
  const families = tritonFamilies(TIGHT_PARAMETERS.maxModelLen, () => 0);
  const own = { model: 'm', backend, responseCache: false, parameters: TIGHT_PARAMETERS, families };
  const model = new TritonModel({ ...own, clock: new MonotonicClock() });
  const { events } = runLoad(load, until_ns, { profile: model });
  return { page: readPage(families.text()), events };
}

const COUNTERS = ['queue', 'compute_input', 'compute_infer', 'compute_output'];

describe('at any moment of any load', () => {
  test('TensorRT-LLM backend: successes are finished requests, and their times add up', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { page, events } = run('tensorrtllm', load, until_ns);
        const finished = events.flatMap((event) => (event.kind === 'finished' ? [event] : []));
        const aborted = events.filter((event) => event.kind === 'aborted').length;
        const value = (name: string): number => page.value(`nv_inference_${name}`, { model: 'm' });
        expect(value('request_success')).toBe(finished.length);
        expect(value('count')).toBe(finished.length);
        expect(page.value('nv_inference_request_failure', { reason: 'CANCELED' })).toBe(aborted);
        const total_us = finished.reduce((sum, { request, time_ns }) => sum + (time_ns - request.arrival_ns) / 1000, 0);
        // Each time is rounded to a microsecond.
        expect(Math.abs(value('request_duration_us') - total_us)).toBeLessThanOrEqual(finished.length);
        const parts = COUNTERS.map((name) => value(`${name}_duration_us`));
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(value('request_duration_us'));
        expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
        expect(value('request_summary_us_count')).toBe(finished.length);
        expect(value('request_summary_us_sum')).toBe(value('request_duration_us'));
        const first = events.filter((event) => event.kind === 'token' && event.index === 0).length;
        expect(page.histogram('nv_inference_first_response_histogram_ms').count).toBe(first);
        const tokens = (key: 'promptTokens' | 'generatedTokens'): number =>
          finished.reduce((sum, { request }) => sum + request[key], 0);
        expect(page.histogram('nv_llm_input_token_len').sum).toBe(tokens('promptTokens'));
        expect(page.histogram('nv_llm_output_token_len').sum).toBe(tokens('generatedTokens'));
      }),
      RUNS,
    );
  });

  test('vLLM backend: its own families count tokens as they are generated', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { page, events } = run('vllm', load, until_ns);
        const tokens = events.flatMap((event) => (event.kind === 'token' ? [event] : []));
        const first = tokens.filter(({ index }) => index === 0);
        expect(page.value('vllm:generation_tokens_total')).toBe(tokens.length);
        expect(page.value('vllm:prompt_tokens_total')).toBe(
          first.reduce((sum, { request }) => sum + request.promptTokens, 0),
        );
        expect(page.histogram('vllm:time_to_first_token_seconds').count).toBe(first.length);
        expect(page.histogram('vllm:time_per_output_token_seconds').count).toBe(tokens.length - first.length);
        // No stream is counted when it ends or is cut: that happened when the backend took it over.
        expect(page.value('nv_inference_request_success')).toBe(0);
        expect(page.sum('nv_inference_request_failure')).toBe(0);
      }),
      RUNS,
    );
  });
});
