import { afterEach, describe, expect, test } from '@jest/globals';

import { startSimulator } from '../main.ts';
import type { RunningSimulator, SimulatedSystem } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';

const FAST = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

let simulator: RunningSimulator;
afterEach(() => simulator.close());

async function start(system: SimulatedSystem): Promise<void> {
  simulator = await startSimulator({ system, model: 'm', workers: 1, engine: { ...FAST, speculation: null } });
}

function ask(path: string, body: object): Promise<Response> {
  return fetch(`${simulator.url}${path}`, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) });
}

interface SseEvent {
  readonly name: string | null;
  readonly data: string;
}

function eventsOf(text: string): SseEvent[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(event) ?? [];
      return { name: name ?? null, data: data ?? '' };
    });
}

const page = async (): Promise<SimulatedPage> => readPage(await (await fetch(simulator.metricsUrl)).text());

interface Completion {
  readonly object: string;
  readonly choices: readonly { readonly text: string; readonly finish_reason: string | null }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

describe.each(['vllm', 'sglang', 'trtllm', 'dynamo'] as const)('/v1/completions of %s', (system) => {
  test('a stream is a text per token, the finish reason on the last, usage and [DONE]', async () => {
    await start(system);
    const options = { stream: true, stream_options: { include_usage: true } };
    const response = await ask('/v1/completions', { prompt: 'Say three words', max_tokens: 5, ...options });
    const events = eventsOf(await response.text()).map(({ data }) => data);
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Completion);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
      ...Array<null>(4).fill(null),
      'length',
      undefined,
    ]);
    expect(
      chunks.slice(0, 5).every(({ object, choices: [choice] }) => object === 'text_completion' && choice?.text),
    ).toBe(true);
    // No chat template: three words are three tokens.
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
  });

  test('without stream it is one object; 16 tokens when no number is given', async () => {
    await start(system);
    const answer = (await (await ask('/v1/completions', { prompt: 'Hi' })).json()) as Completion;
    expect(answer).toMatchObject({
      object: 'text_completion',
      choices: [{ finish_reason: 'length' }],
      usage: { prompt_tokens: 1, completion_tokens: 16 },
    });
  });

  test.each([
    [{ prompt: 5 }, 400],
    [{ prompt: ['one', 'two'] }, 400],
    [{ prompt: 'Hi', model: 'other' }, 404],
    [{ prompt: 'Hi', max_tokens: 0 }, 400],
  ])('%j is refused with %i', async (body, status) => {
    await start(system);
    expect((await ask('/v1/completions', body)).status).toBe(status);
  });
});

interface ResponseObject {
  readonly status: string;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
  readonly usage: object | null;
}

interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: ResponseObject;
}

describe.each(['vllm', 'trtllm', 'dynamo'] as const)('/v1/responses of %s', (system) => {
  test('a stream is the events of OpenAI in their order, the last with all the text and the usage', async () => {
    await start(system);
    const body = { input: [{ role: 'user', content: 'Say two' }], max_output_tokens: 3, stream: true };
    const events = eventsOf(await (await ask('/v1/responses', body)).text());
    const read = events.map(({ data }) => JSON.parse(data) as ResponseEvent);
    expect(read.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...Array<string>(3).fill('response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ name }) => name)).toEqual(read.map(({ type }) => type));
    expect(read.map(({ sequence_number }) => sequence_number)).toEqual(read.map((_, i) => i));
    const text = read.map(({ delta = '' }) => delta).join('');
    expect(read[0]?.response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    expect(read.at(-1)?.response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
      // Two words and four tokens of the chat template.
      usage: { input_tokens: 6, output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 9 },
    });
  });

  test('the announced events come before the first token is computed', async () => {
    simulator = await startSimulator({ system, model: 'm', workers: 1, engine: { stepBaseMilliseconds: 60_000 } });
    const gone = new AbortController();
    const body = JSON.stringify({ model: 'm', input: 'Hi', stream: true });
    const response = await fetch(`${simulator.url}/v1/responses`, { method: 'POST', body, signal: gone.signal });
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toMatch(
      /^event: response\.created\n[^]*event: response\.in_progress\n/,
    );
    gone.abort();
  });

  test('without stream it is one object; a model that stops by itself has completed it', async () => {
    await start(system);
    const answer = (await (await ask('/v1/responses', { input: 'Hi', instructions: 'Be brief' })).json()) as object;
    expect(answer).toMatchObject({ object: 'response', status: 'completed', usage: { input_tokens: 11 } });
  });
});

interface MessageEvent {
  readonly type: string;
  readonly delta?: { readonly type?: string; readonly partial_json?: string };
}

describe.each(['vllm', 'sglang'] as const)('/v1/messages of %s', (system) => {
  const messages = [{ role: 'user', content: 'Say four' }];

  test('a stream is blocks of thinking and text in typed events, usage first and last', async () => {
    await start(system);
    const body = { messages, max_tokens: 4, stream: true, thinking: { type: 'enabled', budget_tokens: 2 } };
    const events = eventsOf(await (await ask('/v1/messages', body)).text());
    const read = events.map(({ data }) => JSON.parse(data) as MessageEvent);
    expect(events.map(({ name }) => name)).toEqual(read.map(({ type }) => type));
    expect(read.map(({ type, delta }) => delta?.type ?? type)).toEqual([
      'message_start',
      ...['content_block_start', 'thinking_delta', 'thinking_delta', 'signature_delta', 'content_block_stop'],
      ...['content_block_start', 'text_delta', 'text_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
    // Two words and four tokens of the chat template.
    expect(read[0]).toMatchObject({ message: { usage: { input_tokens: 6, output_tokens: 0 } } });
    expect(read.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 4 } });
  });

  test('a tool that must be called gets valid JSON', async () => {
    await start(system);
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    const body = { messages, max_tokens: 3, stream: true, tools, tool_choice: { type: 'any' } };
    const events = eventsOf(await (await ask('/v1/messages', body)).text());
    const read = events.map(({ data }) => JSON.parse(data) as MessageEvent);
    expect(read[1]).toMatchObject({ content_block: { type: 'tool_use', name: 'weather' } });
    const given = JSON.parse(read.map(({ delta }) => delta?.partial_json ?? '').join('')) as { text: string };
    expect(given.text.trim().split(' ')).toHaveLength(3);
  });

  test('without stream it is one message; max_tokens is required', async () => {
    await start(system);
    const answer = (await (
      await ask('/v1/messages', { messages, system: 'Be brief', max_tokens: 2 })
    ).json()) as object;
    expect(answer).toMatchObject({ type: 'message', content: [{ type: 'text' }], usage: { input_tokens: 12 } });
    expect((await ask('/v1/messages', { messages })).status).toBe(400);
  });
});

describe.each(['vllm', 'sglang', 'dynamo'] as const)('/v1/embeddings of %s', (system) => {
  test('a vector of length 1, and no output tokens', async () => {
    await start(system);
    const answer = (await (await ask('/v1/embeddings', { input: 'three little words' })).json()) as {
      data: { embedding: number[] }[];
    };
    expect(answer).toMatchObject({
      object: 'list',
      data: [{ object: 'embedding', index: 0 }],
      usage: { prompt_tokens: 3, total_tokens: 3, completion_tokens: 0 },
    });
    const { embedding = [] } = answer.data[0] ?? {};
    expect(embedding).toHaveLength(1024);
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 9);
  });

  test('a vector per text', async () => {
    await start(system);
    const answer = (await (await ask('/v1/embeddings', { input: ['three little words', 'one'] })).json()) as object;
    expect(answer).toMatchObject({ data: [{ index: 0 }, { index: 1 }], usage: { prompt_tokens: 4 } });
  });

  test('in base64, and of the requested length', async () => {
    await start(system);
    const body = { input: 'three little words', dimensions: 4, encoding_format: 'base64' };
    const answer = (await (await ask('/v1/embeddings', body)).json()) as { data: { embedding: string }[] };
    // Four floats of four bytes.
    expect(Buffer.from(answer.data[0]?.embedding ?? '', 'base64')).toHaveLength(16);
    expect((await ask('/v1/embeddings', { input: 'a', encoding_format: 'text' })).status).toBe(400);
  });
});

describe('what vLLM has for rerankers', () => {
  test('the documents in the order of their relevance, each read with the query; top_n of them', async () => {
    await start('vllm');
    const body = { query: 'two words', documents: ['a', 'b c', 'd e f'], top_n: 2 };
    const answer = (await (await ask('/v1/rerank', body)).json()) as { results: { relevance_score: number }[] };
    expect(answer).toMatchObject({ usage: { prompt_tokens: 12, total_tokens: 12 } });
    expect(answer.results).toHaveLength(2);
    const [first, second] = answer.results.map(({ relevance_score }) => relevance_score);
    expect(first).toBeGreaterThanOrEqual(second ?? NaN);
    expect((await page()).value('vllm:request_success_total', { finished_reason: 'stop' })).toBe(3);
    expect((await page()).value('http_requests_total', { handler: '/v1/rerank', status: '2xx' })).toBe(1);
  });

  test('a score per document, and what the pooler makes of texts', async () => {
    await start('vllm');
    const scores = (await (await ask('/score', { text_1: 'q', text_2: ['a', 'b'] })).json()) as object;
    expect(scores).toMatchObject({ object: 'list', data: [{ object: 'score' }, { object: 'score' }] });
    const pooled = (await (await ask('/pooling', { input: ['a', 'b'] })).json()) as object;
    expect(pooled).toMatchObject({ data: [{ object: 'pooling' }, { object: 'pooling' }] });
    expect((await ask('/score', { text_1: 'q' })).status).toBe(400);
  });
});

describe('what the engine counts of an embedding', () => {
  test('vLLM: the prompt and the time to its end, and no generated token', async () => {
    await start('vllm');
    await (await ask('/v1/embeddings', { input: 'three little words' })).text();
    const read = await page();
    expect(read.value('vllm:prompt_tokens_total')).toBe(3);
    expect(read.value('vllm:generation_tokens_total')).toBe(0);
    expect(read.value('vllm:request_success_total', { finished_reason: 'stop' })).toBe(1);
    expect(read.value('vllm:time_to_first_token_seconds_count')).toBe(1);
    expect(read.value('vllm:num_requests_running')).toBe(0);
    expect(read.value('http_requests_total', { handler: '/v1/embeddings', status: '2xx' })).toBe(1);
  });

  test('Dynamo counts each API under its own name', async () => {
    await start('dynamo');
    await (await ask('/v1/embeddings', { input: 'a' })).text();
    await (await ask('/v1/completions', { prompt: 'a' })).text();
    await (await ask('/v1/responses', { input: 'a' })).text();
    const read = await page();
    for (const endpoint of ['embeddings', 'completions', 'responses']) {
      expect(read.value('dynamo_frontend_requests_total', { endpoint, status: 'success' })).toBe(1);
    }
  });
});
