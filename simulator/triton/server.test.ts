import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { parseFaults } from '../faults/plan.ts';
import { startSimulator } from '../main.ts';
import type { RunningSimulator, SimulatorOptions } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';

const FAST = { stepBaseMilliseconds: 1, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;

async function start(options: Partial<SimulatorOptions> = {}): Promise<void> {
  simulator = await startSimulator({ system: 'triton', model: 'm', engine: FAST, ...options });
}

beforeEach(() => start());
afterEach(() => simulator.close());

function generate(model: string, endpoint: string, body: object | string): Promise<Response> {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${simulator.url}/v2/models/${model}/${endpoint}`, { method: 'POST', body: json });
}

async function page(index = 0): Promise<SimulatedPage> {
  return readPage(await (await fetch(simulator.metricsUrls[index] ?? '')).text());
}

test('the server is ready, and its metrics are on another port', async () => {
  expect((await fetch(`${simulator.url}/v2/health/ready`)).status).toBe(200);
  expect((await fetch(`${simulator.url}/metrics`)).status).toBe(404);
  expect(new URL(simulator.metricsUrl).port).not.toBe(new URL(simulator.url).port);
});

describe('generate_stream', () => {
  test('one event per token, without a mark at the end', async () => {
    const response = await generate('m', 'generate_stream', { text_input: 'one two three', max_tokens: 4 });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await response.text()).split('\n\n').slice(0, -1);
    expect(events).toHaveLength(4);
    for (const event of events) {
      const json: unknown = JSON.parse(event.replace(/^data: /, ''));
      expect(json).toEqual({ model_name: 'm', model_version: '1', text_output: expect.stringMatching(/^ [a-z]+$/) });
    }
    const { histogram, value } = await page();
    expect(value('nv_inference_request_success', { model: 'm' })).toBe(1);
    expect(histogram('nv_llm_input_token_len', { model: 'm' }).sum).toBe(3);
    expect(histogram('nv_llm_output_token_len', { model: 'm' }).sum).toBe(4);
  });

  test('an error of the model is an event of a stream that was answered 200', async () => {
    const request = { text_input: 'x', parameters: { max_tokens: 1_000_000 } };
    for (const model of ['m', 'm-vllm']) {
      const response = await generate(model, 'generate_stream', request);
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(/^data: \{"error":"This model's maximum context length is \d+ tokens/);
    }
    const { value } = await page();
    expect(value('nv_inference_request_failure', { model: 'm', reason: 'BACKEND' })).toBe(1);
    // A Python backend that responds with an error has succeeded.
    expect(value('nv_inference_request_success', { model: 'm-vllm' })).toBe(1);
    expect(value('nv_inference_request_failure', { model: 'm-vllm', reason: 'BACKEND' })).toBe(0);
  });

  test('a rejected request is too, and counts as REJECTED', async () => {
    await simulator.close();
    await start({ faults: parseFaults(['http-503:after=0,seconds=600']) });
    const response = await generate('m', 'generate_stream', { text_input: 'x', max_tokens: 1 });
    expect([response.status, await response.text()]).toEqual([200, 'data: {"error":"Exceeds maximum queue size"}\n\n']);
    expect((await generate('m', 'generate', { text_input: 'x', max_tokens: 1 })).status).toBe(503);
    expect((await page()).value('nv_inference_request_failure', { model: 'm', reason: 'REJECTED' })).toBe(2);
  });

  test('an invalid request is refused before the stream begins', async () => {
    for (const body of ['{', '[]', '{}', '{"text_input":"x","max_tokens":0}']) {
      const response = await generate('m', 'generate_stream', body);
      expect(response.status).toBe(400);
      expect(Object.keys((await response.json()) as object)).toEqual(['error']);
    }
    const response = await generate('other', 'generate_stream', { text_input: 'x' });
    expect([response.status, await response.text()]).toEqual([
      400,
      '{"error":"Request for unknown model: \'other\' is not found"}',
    ]);
  });
});

test('the second of two equal requests comes from the response cache, and is no inference', async () => {
  const request = { text_input: 'again', max_tokens: 3 };
  const responses = [await generate('m-cached', 'generate', request), await generate('m-cached', 'generate', request)];
  const [first, second] = await Promise.all(responses.map((answer) => answer.text()));
  expect(second).toBe(first);
  const { value } = await page();
  const counts = ['nv_inference_request_success', 'nv_inference_count', 'nv_cache_num_hits_per_model'];
  expect(counts.map((name) => value(name, { model: 'm-cached' }))).toEqual([2, 1, 1]);
  expect([value('nv_cache_num_hits'), value('nv_cache_num_misses'), value('nv_cache_num_entries')]).toEqual([1, 1, 1]);
});

test('the vLLM backend counts a stream when it takes it over, not when it ends', async () => {
  const response = await generate('m-vllm', 'generate_stream', { text_input: 'x', parameters: { max_tokens: 5000 } });
  const { value } = await page();
  expect(value('nv_inference_request_success', { model: 'm-vllm' })).toBe(1);
  expect(value('vllm:generation_tokens_total')).toBeLessThan(5000);
  await response.body?.cancel();
});
