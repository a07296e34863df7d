import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Engine } from '../engine/engine.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { startSimulator } from '../main.ts';
import type { RunningSimulator, SimulatorOptions } from '../main.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';
import { until } from '../../core/testing/until.ts';

/** Fast, and without a prefix cache, so that /truth holds all that the engine's times depend on. */
const FAST: Partial<EngineParameters> = {
  stepBaseMilliseconds: 2,
  decodeMillisecondsPerSequence: 0.01,
  prefillMillisecondsPerToken: 0.01,
  enablePrefixCaching: false,
};

interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: { readonly role?: string; readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

interface TruthRequest {
  readonly id: string;
  readonly arrival: number;
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  readonly outcome: string;
  readonly due: readonly number[];
  readonly written: readonly number[];
}

interface Truth {
  readonly origin: number;
  readonly dropped_requests: number;
  readonly requests: readonly TruthRequest[];
}

let simulator: RunningSimulator;

async function start(options: Partial<SimulatorOptions> = {}): Promise<void> {
  simulator = await startSimulator({
    system: 'vllm',
    model: 'm',
    switches: false,
    ...options,
    engine: { ...FAST, ...options.engine },
  });
}

beforeEach(() => start());
afterEach(() => simulator.close());

async function restart(options: Partial<SimulatorOptions>): Promise<void> {
  await simulator.close();
  await start(options);
}

function chat(body: object | string, signal?: AbortSignal): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say something, please' }];
  const json = typeof body === 'string' ? body : JSON.stringify({ model: 'm', messages, ...body });
  return fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body: json, ...(signal && { signal }) });
}

function events(text: string): string[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
}

async function page(): Promise<SimulatedPage> {
  return readPage(await (await fetch(simulator.metricsUrl)).text());
}

async function truth(): Promise<Truth> {
  return (await (await fetch(simulator.truthUrl)).json()) as Truth;
}

function pageWhen(condition: (page: SimulatedPage) => boolean): Promise<SimulatedPage> {
  return until(async () => {
    const read = await page();
    return condition(read) ? read : null;
  });
}

const inFlight = (read: SimulatedPage): number =>
  read.value('vllm:num_requests_running') + read.value('vllm:num_requests_waiting');

/** Reads a stream until it has brought some bytes of content, and leaves it open. */
async function firstContent(response: Response): Promise<void> {
  const reader = response.body?.getReader();
  let text = '';
  while (!/"content":" /.test(text)) text += Buffer.from((await reader?.read())?.value ?? []).toString();
}

describe('a stream', () => {
  test('is a role, a chunk per token, the finish reason on the last, usage and [DONE]', async () => {
    const response = await chat({ stream: true, max_tokens: 5, stream_options: { include_usage: true }, unknown: 1 });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const all = events(await response.text());
    expect(all.at(-1)).toBe('[DONE]');
    const chunks = all.slice(0, -1).map((event) => JSON.parse(event) as Chunk);
    expect(chunks).toHaveLength(1 + 5 + 1);
    expect(new Set(chunks.map((chunk) => chunk.id))).toEqual(new Set([response.headers.get('x-request-id')]));
    expect(chunks.every((chunk) => chunk.object === 'chat.completion.chunk' && chunk.model === 'm')).toBe(true);
    expect(chunks[0]?.choices[0]).toMatchObject({ delta: { role: 'assistant', content: '' }, finish_reason: null });
    const content = chunks.slice(1, 6).map((chunk) => chunk.choices[0]);
    expect(content.every((choice) => /^ [a-z]+$/.test(choice?.delta.content ?? ''))).toBe(true);
    expect(content.map((choice) => choice?.finish_reason)).toEqual([null, null, null, null, 'length']);
    // Four tokens of template, four words and marks.
    expect(chunks[6]).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 },
    });
  });

  test('has usage only when it is requested', async () => {
    const all = events(await (await chat({ stream: true, max_completion_tokens: 2, max_tokens: 50 })).text());
    expect(all).toHaveLength(1 + 2 + 1);
    expect(all.join()).not.toContain('usage');
  });

  test('without a limit the model stops by itself: its last token has no text', async () => {
    const response = await chat({ stream: true, stream_options: { include_usage: true } });
    const chunks = events(await response.text())
      .slice(0, -1)
      .map((event) => JSON.parse(event) as Chunk);
    const last = chunks.at(-2)?.choices[0];
    expect(last).toMatchObject({ delta: { content: '' }, finish_reason: 'stop' });
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(chunks.length - 2);
  });
});

test('an answer that is not a stream', async () => {
  const response = await chat({ max_tokens: 3 });
  expect(response.headers.get('content-type')).toBe('application/json');
  const answer = (await response.json()) as { id: string; choices: { message: { content: string } }[] };
  expect(answer).toMatchObject({
    id: response.headers.get('x-request-id'),
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'length' }],
    usage: { prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 },
  });
  expect(answer.choices[0]?.message.content.trim().split(' ')).toHaveLength(3);
});

describe('refusals, in the shape of OpenAI errors', () => {
  test.each<[string, object | string, number, string, string]>([
    ['another model', { model: 'other' }, 404, 'NotFoundError', 'The model `other` does not exist.'],
    ['no JSON', '{"model":', 400, 'BadRequestError', 'The body is not a JSON object: '],
    ['a list', '[]', 400, 'BadRequestError', 'not a JSON object: it is a list'],
    ['no messages', { messages: [] }, 400, 'BadRequestError', '`messages`'],
    ['a message without role', { messages: [{ content: 'x' }] }, 400, 'BadRequestError', 'role'],
    ['content that is a number', { messages: [{ role: 'user', content: 5 }] }, 400, 'BadRequestError', 'content'],
    ['no tokens', { max_tokens: 0 }, 400, 'BadRequestError', 'max_tokens must be at least 1'],
    ['half a token', { max_completion_tokens: 1.5 }, 400, 'BadRequestError', 'max_completion_tokens'],
    ['two answers', { n: 2 }, 400, 'BadRequestError', '`n` must be 1'],
    ['stream options without stream', { stream_options: {} }, 400, 'BadRequestError', 'stream=True'],
    ['more than the context', { max_tokens: 8192 }, 400, 'BadRequestError', 'maximum context length is 8192'],
  ])('%s', async (_case, body, status, type, message) => {
    const response = await chat(body);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ code: status, type });
    expect(error.message).toContain(message);
  });

  test('a body beyond the limit, and the connection stays usable', async () => {
    expect((await chat(' '.repeat(65 * 1024 * 1024))).status).toBe(413);
    expect((await chat({ max_tokens: 1 })).status).toBe(200);
  });

  test('an unknown path', async () => {
    expect((await fetch(`${simulator.url}/v1/nothing`)).status).toBe(404);
    expect((await fetch(`${simulator.url}//`)).status).toBe(404);
  });
});

test('/v1/models and /health', async () => {
  expect(await (await fetch(`${simulator.url}/v1/models`)).json()).toMatchObject({
    object: 'list',
    data: [{ id: 'm', object: 'model', owned_by: 'vllm', max_model_len: 8192 }],
  });
  expect((await fetch(`${simulator.url}/health`)).status).toBe(200);
});

describe('/metrics', () => {
  test('has the content type of the real server, whatever is requested', async () => {
    const response = await fetch(simulator.metricsUrl, { headers: { accept: 'application/openmetrics-text' } });
    expect(response.headers.get('content-type')).toBe('text/plain; version=1.0.0; charset=utf-8');
  });

  test('agrees with what was served: ok, aborted and refused requests', async () => {
    const lengths = [1, 2, 7, 20];
    const responses = lengths.map((n) => chat({ stream: true, max_tokens: n }).then((response) => response.text()));
    const whole = chat({ max_tokens: 9 }).then((response) => response.text());
    const controllers = [new AbortController(), new AbortController()];
    // Far too long to end before they are aborted.
    for (const { signal } of controllers) await firstContent(await chat({ stream: true, max_tokens: 8000 }, signal));
    await Promise.all([...responses, whole, chat('{').then((response) => response.text())]);
    for (const controller of controllers) controller.abort();
    const read = await pageWhen((now) => inFlight(now) === 0);

    const ok = lengths.length + 1;
    const { requests } = await truth();
    const tokens = requests.reduce((sum, request) => sum + request.due.length, 0);
    expect(read.value('vllm:generation_tokens_total')).toBe(tokens);
    expect(read.histogram('vllm:time_to_first_token_seconds').count).toBe(ok + 2);
    expect(read.histogram('vllm:inter_token_latency_seconds').count).toBe(tokens - ok - 2);
    expect(read.histogram('vllm:e2e_request_latency_seconds').count).toBe(ok);
    expect(read.histogram('vllm:request_generation_tokens').sum).toBe(1 + 2 + 7 + 20 + 9);
    expect(read.value('vllm:request_success_total', { finished_reason: 'length' })).toBe(ok);
    expect(read.value('vllm:request_success_total', { finished_reason: 'abort' })).toBe(0);
    expect(read.value('vllm:prompt_tokens_total')).toBe(8 * (ok + 2));
    expect(read.value('vllm:kv_cache_usage_perc')).toBe(0);
    expect(read.value('http_requests_total', { status: '2xx' })).toBe(ok + 2);
    expect(read.value('http_requests_total', { status: '4xx' })).toBe(1);
    expect(read.value('http_request_duration_highr_seconds_count')).toBe(ok + 3);
    expect(requests.map((request) => request.outcome).sort()).toEqual([
      'aborted',
      'aborted',
      ...Array<string>(ok).fill('finished'),
    ]);
  });

  test('running + waiting is what is in flight, running at most the batch limit', async () => {
    await restart({ engine: { maxNumSeqs: 2 } });
    const controller = new AbortController();
    await Promise.all(Array.from({ length: 5 }, () => chat({ stream: true, max_tokens: 8000 }, controller.signal)));
    const read = await pageWhen((now) => now.value('vllm:num_requests_running') === 2);
    expect(read.value('vllm:num_requests_waiting')).toBe(3);
    controller.abort();
    await pageWhen((now) => inFlight(now) === 0);
  });

  test('a repeated prompt is found in the prefix cache', async () => {
    await restart({ engine: { enablePrefixCaching: true } });
    const messages = [{ role: 'user', content: 'word '.repeat(60) }];
    for (let i = 0; i < 2; i++) await (await chat({ messages, max_tokens: 1 })).text();
    // 64 tokens with the template: four blocks of 16, of which the last must be computed.
    expect((await page()).value('vllm:prefix_cache_queries_total')).toBe(128);
    expect((await page()).value('vllm:prefix_cache_hits_total')).toBe(48);
  });
});

describe('/truth', () => {
  test('no token is written before it is due, and due times are what the engine alone computes', async () => {
    const lengths = [3, 15, 1, 30, 8, 8, 21, 2];
    const texts = await Promise.all(
      lengths.map(async (n) => {
        const response = await chat({ stream: n !== 15, max_tokens: n });
        await response.text();
        return response.headers.get('x-request-id');
      }),
    );
    const { origin, requests, dropped_requests } = await truth();
    expect(dropped_requests).toBe(0);
    expect(requests.map((request) => request.id).sort()).toEqual([...texts].sort());

    const engine = new Engine({ ...DEFAULT_ENGINE_PARAMETERS, ...FAST, seed: 1 });
    for (const { id, arrival, prompt_tokens, output_tokens } of requests) {
      engine.submit({ id, arrival_ns: arrival - origin, promptTokens: prompt_tokens, outputTokens: output_tokens });
    }
    const alone = engine.advanceTo(1e15);
    for (const { id, due, written } of requests) {
      const times = alone.flatMap((event) =>
        event.kind === 'token' && event.request.id === id ? [event.time_ns] : [],
      );
      expect(due.map((time) => time - origin)).toEqual(times);
      expect(written).toHaveLength(due.length);
      expect(written.every((time, i) => time >= (due[i] ?? Infinity))).toBe(true);
    }
  });

  test('reports how many it dropped, and gives a single request', async () => {
    await restart({ truthLimits: { requests: 2, tokens: 1000 } });
    for (let i = 0; i < 3; i++) await (await chat({ max_tokens: 1 })).text();
    const { dropped_requests, requests } = await truth();
    expect(dropped_requests).toBe(1);
    const one = (await (await fetch(`${simulator.truthUrl}?id=${requests[1]?.id}`)).json()) as Truth;
    expect(one.requests).toEqual([requests[1]]);
  });
});

describe('starting and closing', () => {
  test('a port in use and a wrong parameter are errors', async () => {
    await expect(startSimulator({ system: 'vllm', port: simulator.port })).rejects.toThrow('EADDRINUSE');
    await expect(startSimulator({ system: 'vllm', engine: { maxNumSeqs: 0 } })).rejects.toThrow('maxNumSeqs');
  });

  test('closing ends streams and frees the port', async () => {
    const response = await chat({ stream: true, max_tokens: 8000 });
    await firstContent(response);
    const { port } = simulator;
    await simulator.close();
    await expect(fetch(simulator.metricsUrl)).rejects.toThrow();
    await start({ port });
    expect(simulator.port).toBe(port);
  });
});
