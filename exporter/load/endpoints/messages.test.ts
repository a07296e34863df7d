import { describe, expect, test } from '@jest/globals';
import type { GenerationOptions } from './endpoint.ts';
import { messagesEndpoint } from './messages.ts';

const endpoint = messagesEndpoint(null);
const OPTIONS: GenerationOptions = { model: 'm', sampling: { top_k: 5 }, includeUsage: true, stream: true };
const meaning = (event: object) => endpoint.interpret(event);
const delta = (type: string, more: object) =>
  meaning({ type: 'content_block_delta', index: 0, delta: { type, ...more } });

test('the body has the system prompt beside the messages, and no stream options', () => {
  const request = {
    prompt: 'And now?',
    max_tokens: 5,
    history: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ],
  } as const;
  expect(JSON.parse(endpoint.body(request, OPTIONS))).toEqual({
    top_k: 5,
    model: 'm',
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And now?' },
    ],
    max_tokens: 5,
    stream: true,
  });
});

test('the key is in the header that Anthropic reads', () => {
  expect(endpoint.headers?.('k')).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'k' });
  expect(endpoint.headers?.(null)).toEqual({ 'anthropic-version': '2023-06-01' });
});

describe('what events carry', () => {
  test.each([
    ['text_delta', { text: 'Hi' }, { content: true }],
    ['text_delta', { text: '' }, { content: false }],
    ['thinking_delta', { thinking: 'Hm' }, { content: true, reasoning: true }],
    ['input_json_delta', { partial_json: '{"a"' }, { content: true }],
    ['input_json_delta', { partial_json: '' }, { content: false }],
    ['signature_delta', { signature: 'EqQB' }, { content: false }],
    ['citations_delta', { citation: { cited_text: 'x' } }, { content: false }],
    ['poem_delta', { verse: 'x' }, { content: true, unknownFields: ['poem_delta'] }],
  ])('%s %j', (type, more, expected) => {
    expect(delta(type, more)).toEqual({ finishReason: null, usage: null, error: null, ...expected });
  });

  test.each([
    [{ type: 'text', text: '' }, false],
    [{ type: 'thinking', thinking: '' }, false],
    [{ type: 'tool_use', id: 't', name: 'weather', input: {} }, true],
    [{ type: 'redacted_thinking', data: 'EmwK' }, true],
    [{ type: 'web_search_tool_result', content: [{ title: 'A page' }] }, false],
  ])('the start of a block %j', (content_block, content) => {
    expect(meaning({ type: 'content_block_start', index: 0, content_block })?.content).toBe(content);
  });

  test('an unknown delta counts only if it is chosen', () => {
    const event = { type: 'content_block_delta', delta: { type: 'poem_delta', verse: 'x' } };
    expect(messagesEndpoint(['poem_delta']).interpret(event)).toMatchObject({ content: true });
    expect(messagesEndpoint([]).interpret(event)).toMatchObject({ content: false });
  });

  test('an error, and what is not of this API', () => {
    expect(meaning({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })?.error).toBe(
      'Overloaded',
    );
    expect(meaning({ choices: [] })).toBeNull();
    expect(endpoint.interpretWhole({ choices: [] })).toBeNull();
  });
});

test('the prompt is the sum of the tokens read from the cache, written to it, and the rest', () => {
  const usage = { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
  expect(meaning({ type: 'message_start', message: { usage } })?.usage).toEqual({
    input_tokens: 123,
    output_tokens: 1,
    reasoning_tokens: null,
    cached_tokens: 100,
  });
});

test('a response that is not a stream: blocks, stop reason, usage', () => {
  const response = {
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 's' },
      { type: 'text', text: 'Hello' },
    ],
    stop_reason: 'max_tokens',
    usage: { input_tokens: 7, output_tokens: 2 },
  };
  expect(endpoint.interpretWhole(response)).toEqual({
    content: true,
    finishReason: 'max_tokens',
    usage: { input_tokens: 7, output_tokens: 2, reasoning_tokens: null, cached_tokens: null },
    error: null,
  });
  expect(endpoint.text(response)).toEqual({ output: 'Hello', reasoning: 'Hm' });
});

test('calls of tools, their results and definitions are blocks of this API', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'grep', arguments: '{"word":"x"}' } };
  const request = {
    prompt: '',
    max_tokens: 5,
    tools: [{ type: 'function', function: { name: 'grep', parameters: { type: 'object', properties: {} } } }],
    history: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Find x' },
      { role: 'assistant', content: 'I look', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'x is here' },
    ],
  } as const;
  expect(JSON.parse(endpoint.body(request, OPTIONS))).toMatchObject({
    system: 'Be brief.',
    tools: [{ name: 'grep', input_schema: { type: 'object', properties: {} } }],
    messages: [
      { role: 'user', content: 'Find x' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look' },
          { type: 'tool_use', id: 'c1', name: 'grep', input: { word: 'x' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x is here' }] },
    ],
  });
});
