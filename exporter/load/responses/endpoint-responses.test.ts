import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContentRecognizer } from './content-recognizer.ts';
import { chat, completions } from '../endpoints/openai.ts';
import { embeddings } from '../endpoints/pooling.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { messagesEndpoint } from '../endpoints/messages.ts';
import { responses } from '../endpoints/responses.ts';
import { sglangGenerate, tritonGenerate } from '../endpoints/generate.ts';
import { templateEndpoint, parseTemplate } from '../endpoints/template.ts';
import { answeredBy } from '../testing/one-request.ts';
import type { Asking, Reported } from '../testing/one-request.ts';
import {
  response,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  sse,
  STREAM_HEAD,
  streamOf,
} from '../testing/scripted-server.ts';

const DONE = sse('[DONE]');
const ask = (text: string, asking: Asking): Promise<Reported> =>
  answeredBy((socket) => socket.write(text), undefined, undefined, asking);
const streamed = (endpoint: Endpoint, events: readonly string[]): Promise<Reported> =>
  ask(streamOf(events), { endpoint });
const whole = (endpoint: Endpoint, json: unknown, more: Asking = {}): Promise<Reported> =>
  ask(response('200 OK', 'application/json', JSON.stringify(json)), { endpoint, stream: false, ...more });

const named = (type: string, more: object): string => `event: ${type}\n${sse({ type, sequence_number: 1, ...more })}`;
const RESPONSES_STREAM = [
  named('response.created', { response: { status: 'in_progress', output: [] } }),
  named('response.output_item.added', { item: { type: 'message', content: [] } }),
  named('response.output_text.delta', { item_id: 'a', delta: 'Hel' }),
  named('response.output_text.delta', { item_id: 'a', delta: 'lo' }),
  named('response.output_text.done', { item_id: 'a', text: 'Hello' }),
  named('response.completed', {
    response: { status: 'completed', error: null, output: [], usage: { input_tokens: 7, output_tokens: 2 } },
  }),
];
const typed = (type: string, more: object = {}): string => `event: ${type}\n${sse({ type, ...more })}`;
const MESSAGES_STREAM = [
  typed('message_start', {
    message: {
      role: 'assistant',
      content: [],
      usage: { input_tokens: 4, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  }),
  typed('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } }),
  typed('ping'),
  typed('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } }),
  typed('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'EqQB' } }),
  typed('content_block_stop', { index: 0 }),
  typed('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
  typed('content_block_delta', { index: 1, delta: { type: 'text_delta', text: 'Hello' } }),
  typed('content_block_stop', { index: 1 }),
  typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 4, output_tokens: 2 } }),
  typed('message_stop'),
];
const messages = messagesEndpoint(null);
const COMPLETIONS_STREAM = [
  sse({ id: 'c', choices: [{ index: 0, text: 'Hel', finish_reason: null }] }),
  sse({ id: 'c', choices: [{ index: 0, text: 'lo', finish_reason: 'length' }] }),
  sse({ id: 'c', choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } }),
  DONE,
];
const sglang = (text: string, completion_tokens: number, finish_reason: unknown = null): string =>
  sse({
    text,
    meta_info: { id: 'r', finish_reason, prompt_tokens: 7, completion_tokens, cached_tokens: 3, e2e_latency: 0.125 },
  });
const SGLANG_STREAM = [
  sglang('Hel', 1),
  // A token without text of its own, as byte-level tokenizers have them.
  sglang('Hel', 2),
  sglang('Hello', 3, { type: 'length', length: 3 }),
  DONE,
];
const triton = tritonGenerate('ensemble', true);
const tritonEvent = (text_output: string, more: object = {}): string =>
  sse({ model_name: 'ensemble', model_version: '1', text_output, ...more });
const template = templateEndpoint(
  parseTemplate(
    '{path: /t, body: {p: "{{prompt}}", n: "{{max_tokens}}"}, done: END, ends: done, answer: {text: t, output_tokens: n}}',
    't',
  ),
);

describe('streams of each endpoint', () => {
  test.each<[string, Endpoint, readonly string[], object]>([
    ['completions', completions, COMPLETIONS_STREAM, { input_tokens: 7, output_tokens: 2 }],
    ['responses, which has no [DONE]', responses, RESPONSES_STREAM, { input_tokens: 7, output_tokens: 2 }],
    // The last usage leaves out what was read from the cache.
    ['messages', messages, MESSAGES_STREAM, { input_tokens: 7, output_tokens: 2, cached_tokens: 3 }],
    ['triton without counts', triton, [tritonEvent('Hel'), tritonEvent('lo')], { output_tokens: null }],
    [
      'triton with counts, added up',
      triton,
      [
        tritonEvent('Hel', { num_input_tokens: 7, num_output_tokens: 2 }),
        tritonEvent('lo', { num_input_tokens: 7, num_output_tokens: 1 }),
      ],
      { input_tokens: 7, output_tokens: 3 },
    ],
    ['template', template, [sse({ t: 'Hel' }), sse({ t: 'lo', n: 2 }), sse('END'), sse('junk')], { output_tokens: 2 }],
  ])('%s', async (_name, endpoint, events, tokens) => {
    const { closed, firstContents, gaps } = await streamed(endpoint, events);
    expect(closed.record).toMatchObject({ outcome: 'ok', reason: null, ...tokens });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
    expect([firstContents, gaps]).toEqual([1, 1]);
  });

  test('SGLang: new text is content, although each event repeats the text so far', async () => {
    const { closed } = await streamed(sglangGenerate, SGLANG_STREAM);
    expect(closed.record).toMatchObject({ outcome: 'ok', input_tokens: 7, output_tokens: 3, cached_tokens: 3 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(3);
  });

  test('SGLang: an event without new text is no chunk', async () => {
    const { closed } = await streamed(sglangGenerate, [
      sglang('Hel', 1),
      sglang('Hel', 1),
      sglang('Hel', 1, { type: 'stop', matched: 2 }),
      DONE,
    ]);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 1 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(1);
  });

  test.each<[string, Endpoint, readonly string[], string]>([
    ['Triton: an error under HTTP 200', triton, [tritonEvent('a'), sse({ error: 'no memory' })], 'error_event'],
    ['Triton: nothing but an error', triton, [sse({ error: 'queue full' })], 'error_event'],
    ['Triton: no text at all', triton, [tritonEvent('')], 'no_content'],
    ['SGLang: aborted', sglangGenerate, [sglang('a', 1, { type: 'abort', message: 'x' }), DONE], 'error_event'],
    ['SGLang: ended in the middle', sglangGenerate, [sglang('a', 1)], 'no_finish'],
    [
      'responses: failed',
      responses,
      [named('response.failed', { response: { status: 'failed', error: { message: 'x' } } })],
      'error_event',
    ],
    ['messages: cut', messages, MESSAGES_STREAM.slice(0, 8), 'no_finish'],
    [
      'messages: error',
      messages,
      [...MESSAGES_STREAM.slice(0, 8), typed('error', { error: { message: 'x' } })],
      'error_event',
    ],
    ['responses: cut', responses, RESPONSES_STREAM.slice(0, 4), 'no_finish'],
    ['template: the end is missing', template, [sse({ t: 'a', n: 1 })], 'no_finish'],
    ['template: [DONE] is not its end', template, [sse({ t: 'a' }), DONE, sse('END')], 'malformed_event'],
    ['completions answered to responses', responses, COMPLETIONS_STREAM, 'malformed_event'],
  ])('%s', async (_name, endpoint, events, reason) => {
    const { closed } = await streamed(endpoint, events);
    expect(closed.record).toMatchObject({ outcome: 'error', reason });
  });

  test('chat answered to completions: its text counts', async () => {
    const { closed } = await streamed(completions, GOOD_STREAM);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  });

  test('Triton: a connection that breaks in the middle is not its end', async () => {
    const { closed } = await answeredBy(
      async (socket) => {
        socket.write(STREAM_HEAD + httpChunk(tritonEvent('a')));
        await sleep(30);
        socket.end();
      },
      undefined,
      undefined,
      { endpoint: triton },
    );
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset' });
  });
});

describe('answers that are not streamed', () => {
  const CHAT = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 2 },
  };
  test.each<[string, Endpoint, unknown, object]>([
    ['chat', chat, CHAT, { input_tokens: 7, output_tokens: 2 }],
    [
      'completions',
      completions,
      { choices: [{ text: 'Hello', finish_reason: 'length' }], usage: { prompt_tokens: 7, completion_tokens: 2 } },
      { input_tokens: 7, output_tokens: 2 },
    ],
    [
      'responses',
      responses,
      {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
        usage: { input_tokens: 7, output_tokens: 2 },
      },
      { input_tokens: 7, output_tokens: 2 },
    ],
    [
      'embeddings',
      embeddings,
      { data: [{ embedding: [0.1] }], usage: { prompt_tokens: 7, total_tokens: 7 } },
      { input_tokens: 7, output_tokens: null, output_tokens_source: null },
    ],
    ['sglang', sglangGenerate, JSON.parse(sglang('Hello', 2, { type: 'stop' }).slice(6)), { output_tokens: 2 }],
    ['triton', tritonGenerate('e', false), { model_name: 'e', text_output: 'Hello' }, { output_tokens: null }],
    ['template', template, { t: 'Hello', n: 2 }, { output_tokens: 2 }],
  ])('%s: it has an end and no first token', async (_name, endpoint, json, tokens) => {
    const { closed, firstContents, gaps } = await whole(endpoint, json);
    const { record } = closed;
    expect(record).toMatchObject({ outcome: 'ok', reason: null, first_content_ns: null, ...tokens });
    expect(record.chunk_offsets_ns).toEqual([]);
    expect(record.last_content_ns).toBeGreaterThan(record.sent_ns);
    expect(record.last_content_ns).toBeLessThanOrEqual(record.end_ns);
    expect([firstContents, gaps]).toEqual([0, 0]);
  });

  test('in many pieces', async () => {
    const body = JSON.stringify(CHAT);
    const text =
      STREAM_HEAD.replace('text/event-stream', 'application/json') + [...body].map(httpChunk).join('') + LAST_CHUNK;
    expect((await ask(text, { stream: false })).closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
  });

  test.each<[string, string, string, string]>([
    [
      'an error under HTTP 200',
      response('200 OK', 'application/json', '{"error":{"message":"no"}}'),
      'error_event',
      'no',
    ],
    [
      'another protocol',
      response('200 OK', 'application/json', '{"foo":1}'),
      'malformed_event',
      'the response is not of the chat protocol: {foo}',
    ],
    ['no text', response('200 OK', 'application/json', '{"choices":[]}'), 'no_content', 'the response has no content'],
    ['a page', response('200 OK', 'text/html', '<h1>Hi</h1>'), 'not_a_stream', 'HTTP 200: Hi'],
    ['cut JSON', response('200 OK', 'application/json', '{"choices":'), 'not_a_stream', 'HTTP 200: {"choices":'],
    ['a stream', streamOf(GOOD_STREAM), 'not_a_stream', ''],
    ['404', response('404 X', 'application/json', '{"detail":"gone"}'), 'http_4xx', 'HTTP 404: gone'],
    [
      'compressed',
      response('200 OK', 'application/json', 'xx', 'content-encoding: br\r\n'),
      'compression',
      'HTTP 200: content-encoding br although identity was requested',
    ],
  ])('%s', async (_name, text, reason, message) => {
    const { closed } = await ask(text, { stream: false });
    expect(closed.record).toMatchObject({ outcome: 'error', reason, last_content_ns: null });
    expect(closed.message).toContain(message);
  });

  test('a connection that breaks in the middle', async () => {
    const { closed } = await answeredBy(
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'),
      undefined,
      [],
      {
        stream: false,
      },
    );
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset' });
  });
});

describe('the text of an answer', () => {
  const reasoning = sse({ choices: [{ index: 0, delta: { reasoning_content: 'hm' }, finish_reason: null }] });
  const words = (text: string): number => text.split(' ').filter((word) => word !== '').length;

  test('is kept only on request', async () => {
    expect((await ask(streamOf(GOOD_STREAM), {})).closed.text).toBeNull();
    const kept = await ask(streamOf([reasoning, ...GOOD_STREAM]), { keepText: true });
    expect(kept.closed.text?.output).toBe('Hello world');
    expect(kept.closed.record.chunk_offsets_ns).toHaveLength(3);
    expect(JSON.stringify(kept.closed.record)).not.toContain('Hello');
  });

  test.each<[string, Asking, string]>([
    ['SGLang, each event with all of it', { endpoint: sglangGenerate }, streamOf(SGLANG_STREAM)],
    [
      'SGLang, only what is new',
      { endpoint: sglangGenerate },
      streamOf([sglang('Hel', 1), sglang('lo', 2, { type: 'stop' }), DONE]),
    ],
    ['responses', { endpoint: responses }, streamOf(RESPONSES_STREAM)],
    [
      'not streamed',
      { stream: false },
      response('200 OK', 'application/json', '{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}'),
    ],
  ])('%s', async (_name, asking, text) => {
    expect((await ask(text, { ...asking, keepText: true })).closed.text?.output).toBe('Hello');
  });

  test('a tokenizer counts what the server does not report, and the record reports it', async () => {
    const asking = { keepText: true, countTokens: words, input_tokens: 5 };
    const silent = GOOD_STREAM.filter((event) => !event.includes('usage'));
    const { closed } = await ask(streamOf([reasoning, ...silent]), asking);
    expect(closed.record).toMatchObject({
      outcome: 'ok',
      input_tokens: 5,
      input_tokens_source: 'tokenizer',
      // "hm" of the reasoning and "Hello world"
      output_tokens: 3,
      output_tokens_source: 'tokenizer',
    });
    const reported = await ask(streamOf(GOOD_STREAM), asking);
    expect(reported.closed.record).toMatchObject({
      input_tokens: 7,
      input_tokens_source: 'usage',
      output_tokens: 2,
      output_tokens_source: 'usage',
      // Counting the prompt cost nothing: it was done when it was written. The response is left alone.
      counted_input_tokens: 5,
      counted_output_tokens: null,
    });
  });

  test.each([
    ['streamed', {}, streamOf([reasoning, ...GOOD_STREAM])],
    [
      'not streamed',
      { stream: false },
      response(
        '200 OK',
        'application/json',
        '{"choices":[{"message":{"reasoning_content":"hm","content":"Hello world"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}',
      ),
    ],
  ])('a tokenizer that checks the server counts beside it: %s', async (_name, form, text) => {
    const asking = { ...form, keepText: true, countTokens: words, checkUsage: true, input_tokens: 5 };
    expect((await ask(text, asking)).closed.record).toMatchObject({
      input_tokens: 7,
      output_tokens: 2,
      output_tokens_source: 'usage',
      counted_input_tokens: 5,
      counted_output_tokens: 3,
      counted_reasoning_tokens: 1,
    });
  });
});

test.each<[string, Endpoint, (text: string) => unknown]>([
  ['completions', completions, (text) => ({ id: text, choices: [{ index: 0, text, finish_reason: null }] })],
  [
    'responses',
    responses,
    (delta) => ({ type: 'response.output_text.delta', sequence_number: 12, item_id: 'a', delta }),
  ],
  ['triton', triton, (text_output) => ({ model_name: 'e', model_version: '1', text_output })],
  ['template', template, (t) => ({ t })],
])('%s: content is recognized by its bytes after the first, and the empty text is not', (_name, endpoint, make) => {
  const recognizer = new ContentRecognizer(endpoint.variableKeys);
  const bytes = (text: string): Buffer => Buffer.from(JSON.stringify(make(text)));
  const first = bytes('a');
  recognizer.learn(first, 0, first.length, 'output');
  for (const text of ['longer', '"', '\n', 'é']) {
    expect(recognizer.recognize(bytes(text), 0, bytes(text).length)).toBe('output');
  }
  expect(recognizer.recognize(bytes(''), 0, bytes('').length)).toBeNull();
});
