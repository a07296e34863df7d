import { afterEach, expect, test } from '@jest/globals';

import { parseFaults } from '../faults/plan.ts';
import { startSimulator } from '../main.ts';
import type { RunningSimulator, SimulatorOptions } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';

const FAST = { stepBaseMilliseconds: 1, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;

afterEach(() => simulator.close());

async function start(options: Partial<SimulatorOptions> = {}): Promise<void> {
  simulator = await startSimulator({ system: 'dynamo', model: 'm', engine: FAST, ...options });
}

function chat(body: object): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say something, please' }];
  const json = JSON.stringify({ model: 'm', messages, stream: true, ...body });
  return fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body: json });
}

async function page(index = 0): Promise<SimulatedPage> {
  return readPage(await (await fetch(simulator.metricsUrls[index] ?? '')).text());
}

test('a stream in the form of Dynamo: the role in every chunk, the finish reason in one without content', async () => {
  await start();
  const text = await (await chat({ max_tokens: 3, stream_options: { include_usage: true } })).text();
  const events = text.split('\n\n').map((event) => event.replace(/^data: /, ''));
  expect(events.slice(-2)).toEqual(['[DONE]', '']);
  const chunks = events.slice(0, -2).map((event) => JSON.parse(event) as Record<string, unknown>);
  const word: unknown = expect.stringMatching(/^ [a-z]+$/);
  const token = { index: 0, delta: { content: word, role: 'assistant' }, finish_reason: null, logprobs: null };
  const last = { index: 0, delta: { role: 'assistant' }, finish_reason: 'length', logprobs: null };
  expect(chunks.map(({ choices }) => choices)).toEqual([[token], [token], [token], [last], []]);
  const promptTokens = (await page()).value('dynamo_frontend_input_sequence_tokens_sum');
  const usage = { prompt_tokens: promptTokens, completion_tokens: 3, total_tokens: promptTokens + 3 };
  expect(chunks.map(({ usage }) => usage)).toEqual([null, null, null, null, usage]);
});

test('an answer without a stream, which fills the same histograms under another type of request', async () => {
  await start();
  const response = (await (await chat({ max_tokens: 2, stream: false })).json()) as { usage: object };
  expect(response.usage).toMatchObject({ completion_tokens: 2 });
  const { value } = await page();
  expect(value('dynamo_frontend_requests_total', { request_type: 'unary' })).toBe(1);
  expect(value('dynamo_frontend_time_to_first_token_seconds_count')).toBe(1);
});

test('one page for the frontend, one per worker, one for the GPUs', async () => {
  await start({ workers: 3 });
  expect(new Set(simulator.metricsUrls).size).toBe(5);
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => chat({ max_tokens: 1 + i }).then((response) => response.text())),
  );
  const pages = await Promise.all([1, 2, 3].map(page));
  const requests = pages.map(({ value }) => value('dynamo_component_requests_total', { dynamo_endpoint: 'generate' }));
  expect(requests.reduce((sum, count) => sum + count, 0)).toBe(12);
  expect(Math.min(...requests)).toBeGreaterThan(0);
  expect((await page(4)).value('DCGM_FI_DEV_FB_USED', { gpu: '2' })).toBeGreaterThan(0);
});

test('a lost worker: its streams end with an error event, the next one has another id and counts from 0', async () => {
  await start({ workers: 1, faults: parseFaults(['restart:after=0.3,seconds=1.5']) });
  const idOf = async (): Promise<string> => {
    const text = await (await fetch(simulator.metricsUrls[1] ?? '')).text();
    return /uptime_seconds\{worker_id="([^"]+)"/.exec(text)?.[1] ?? '';
  };
  const first = await idOf();
  const text = await (await chat({ max_tokens: 5000 })).text();
  expect(text).toMatch(/data: \{"error":\{"message":"Internal server error",[^\n]*\}\n\ndata: \[DONE\]\n\n$/);
  expect(text).not.toContain('"finish_reason":"');
  const refused = await chat({ max_tokens: 1 });
  expect(refused.status).toBe(503);
  const afterLoss = await page();
  expect(afterLoss.value('dynamo_frontend_requests_total', { error_type: 'internal' })).toBe(1);
  expect(afterLoss.value('dynamo_frontend_model_migration_total')).toBe(1);
  expect(afterLoss.value('dynamo_frontend_model_rejection_total')).toBe(1);
  for (let tries = 0; tries < 400 && (await chat({ max_tokens: 1 })).status !== 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await idOf()).not.toBe(first);
  expect((await page(1)).value('vllm:generation_tokens_total')).toBe(1);
});

test('a hot worker has its share of the requests', async () => {
  await start({ workers: 4, faults: parseFaults(['hot-worker:worker=2,share=1']) });
  for (let i = 0; i < 5; i++) await (await chat({ max_tokens: 1 })).text();
  expect((await page(3)).value('dynamo_component_requests_total', { dynamo_endpoint: 'generate' })).toBe(5);
});

test('a worker that there is not is no worker to restart', async () => {
  await start();
  const faults = parseFaults(['restart:worker=2']);
  await expect(startSimulator({ system: 'dynamo', workers: 2, faults })).rejects.toThrow(RangeError);
});
