import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { startSimulator } from '../main.ts';
import type { RunningSimulator } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';

const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;
beforeEach(async () => {
  simulator = await startSimulator({ system: 'trtllm', model: 'm', engine });
});
afterEach(() => simulator.close());

const chat = (body: object): Promise<Response> =>
  fetch(`${simulator.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Say something' }], ...body }),
  });

test('/metrics is JSON that drains, /prometheus/metrics a page', async () => {
  expect(simulator.metricsUrls[0]).toBe(`${simulator.url}/prometheus/metrics`);
  await (await chat({ max_tokens: 8 })).text();
  const first = await fetch(`${simulator.url}/metrics`);
  expect(first.headers.get('content-type')).toBe('application/json');
  const rows = (await first.json()) as { numCompletedRequests: number }[];
  expect(rows.reduce((sum, { numCompletedRequests }) => sum + numCompletedRequests, 0)).toBe(1);
  expect(await (await fetch(`${simulator.url}/metrics`)).json()).toEqual([]);
  const response = await fetch(simulator.metricsUrl);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const page = readPage(await response.text());
  expect(page.sum('trtllm_generation_tokens_total')).toBe(8);
  expect(page.sum('trtllm_num_requests_completed_total')).toBe(1);
});

test('a stream: every token is a chunk, several may come at once, the last has the finish reason', async () => {
  const text = await (await chat({ stream: true, max_tokens: 9, stream_options: { include_usage: true } })).text();
  const events = text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as { choices: object[] });
  expect(chunks).toHaveLength(1 + 9 + 1);
  expect(chunks[9]?.choices[0]).toMatchObject({ delta: { content: expect.any(String) }, finish_reason: 'length' });
  expect(chunks[10]).toMatchObject({ choices: [], usage: { completion_tokens: 9 } });
});

test('a refused request counts, and is on no other family', async () => {
  const response = await chat({ max_tokens: 0 });
  expect(await response.json()).toMatchObject({ object: 'error', code: 400 });
  const page = readPage(await (await fetch(simulator.metricsUrl)).text());
  expect(page.sum('trtllm_request_error_total', { http_code: '400' })).toBe(1);
  expect(page.sum('trtllm_request_success_total')).toBe(0);
});

test('the page of a Dynamo worker around the engine is on a port of its own', async () => {
  await (await chat({ max_tokens: 2 })).text();
  const page = readPage(await (await fetch(simulator.metricsUrls[1] ?? '')).text());
  expect(page.sum('trtllm_kv_transfer_success_total')).toBe(1);
  expect(page.histogram('trtllm_kv_transfer_bytes').count).toBe(1);
  expect(page.value('trtllm_num_aborted_requests_total', { disaggregation_mode: 'decode' })).toBe(0);
});
