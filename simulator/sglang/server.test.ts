import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { startSimulator } from '../main.ts';
import type { RunningSimulator } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';

const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;
beforeEach(async () => {
  simulator = await startSimulator({ system: 'sglang', model: 'm', workers: 1, engine });
});
afterEach(() => simulator.close());

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${simulator.url}${path}`, { method: 'POST', body: JSON.stringify(body) });

const eventsOf = (text: string): string[] =>
  text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));

describe('/v1/chat/completions', () => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'Say something' }], stream: true };

  test('a stream: role, tokens, the finish reason in a chunk of its own, usage, [DONE]', async () => {
    const response = await post('/v1/chat/completions', {
      ...request,
      max_tokens: 3,
      stream_options: { include_usage: true },
    });
    const events = eventsOf(await response.text());
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as { choices: object[]; usage: object | null });
    expect(chunks).toHaveLength(1 + 3 + 1 + 1);
    expect(chunks[0]?.choices[0]).toMatchObject({ delta: { role: 'assistant', content: '' }, finish_reason: null });
    expect(chunks[3]?.choices[0]).toMatchObject({ delta: { role: null }, finish_reason: null });
    expect(chunks[4]?.choices[0]).toMatchObject({
      delta: { content: null },
      finish_reason: 'length',
      matched_stop: null,
    });
    expect(chunks.slice(0, 5).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks[5]).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 },
    });
  });

  test('a refusal is not wrapped', async () => {
    const response = await post('/v1/chat/completions', { ...request, max_tokens: 0 });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ object: 'error', type: 'BadRequestError', code: 400 });
  });
});

describe('/generate', () => {
  test('a stream repeats the whole text each time; the last event reports why it ended', async () => {
    const response = await post('/generate', {
      text: 'one two three',
      sampling_params: { max_new_tokens: 3 },
      stream: true,
      rid: 'mine',
    });
    const events = eventsOf(await response.text());
    expect(events.at(-1)).toBe('[DONE]');
    type Event = { text: string; meta_info: { completion_tokens: number; finish_reason: object | null } };
    const responses = events.slice(0, -1).map((event) => JSON.parse(event) as Event);
    expect(responses.map(({ meta_info }) => meta_info.completion_tokens)).toEqual([1, 2, 3]);
    expect(responses.map(({ text }) => text.trim().split(' ').length)).toEqual([1, 2, 3]);
    expect(responses[1]?.text.startsWith(responses[0]?.text ?? 'x')).toBe(true);
    expect(responses.map(({ meta_info }) => meta_info.finish_reason)).toEqual([
      null,
      null,
      { type: 'length', length: 3 },
    ]);
    expect(responses[0]?.meta_info).toMatchObject({ id: 'mine', prompt_tokens: 3, cached_tokens: 0 });
  });

  test('one answer; an invalid body is refused', async () => {
    const response = await post('/generate', { text: 'one', sampling_params: { max_new_tokens: 2 } });
    expect(await response.json()).toMatchObject({ meta_info: { completion_tokens: 2 } });
    expect((await post('/generate', { sampling_params: {} })).status).toBe(400);
    expect((await post('/generate', { text: 'x', sampling_params: { max_new_tokens: 0 } })).status).toBe(400);
  });
});

test('a single engine without a gateway; its page counts both APIs, and /v1/loads', async () => {
  expect(simulator.metricsUrls).toEqual([`${simulator.url}/metrics`]);
  await (await post('/generate', { text: 'one two', sampling_params: { max_new_tokens: 2 }, stream: true })).text();
  await (await post('/v1/chat/completions', { messages: [{ role: 'user', content: 'a' }], max_tokens: 3 })).text();
  expect(await (await fetch(`${simulator.url}/v1/loads`)).json()).toMatchObject({ loads: [{ num_running_reqs: 0 }] });
  const response = await fetch(simulator.metricsUrl);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const openMetrics = { headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.5' } };
  const negotiated = await (await fetch(simulator.metricsUrl, openMetrics)).text();
  expect(negotiated).toMatch(/^sglang_num_requests_total\{/m);
  expect(negotiated.endsWith('# EOF\n')).toBe(true);
  const page = readPage(await response.text());
  expect(page.sum('sglang:generation_tokens_total', { is_streaming: 'true' })).toBe(2);
  expect(page.sum('sglang:generation_tokens_total', { is_streaming: 'false' })).toBe(3);
  expect(page.sum('sglang:get_loads_duration_seconds_count')).toBe(1);
});
