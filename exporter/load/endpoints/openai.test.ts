import { describe, expect, test } from '@jest/globals';
import { chat, completions } from './openai.ts';

describe('chat', () => {
  const chunk = (delta: unknown, finish_reason: string | null = null): unknown => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const PLAIN = { content: true, finishReason: null, usage: null, error: null };
  const EMPTY = { ...PLAIN, content: false };

  describe('request body', () => {
    test('always limits the output, and requests a stream with usage', () => {
      const body: unknown = JSON.parse(
        chat.body({ prompt: 'hi', max_tokens: 5 }, { model: 'm', sampling: { temperature: 0 }, includeUsage: true }),
      );
      expect(body).toEqual({
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 5,
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
      });
    });

    test('leaves stream_options out for servers that reject it', () => {
      const body = chat.body({ prompt: 'hi', max_tokens: 5 }, { model: 'm', sampling: {}, includeUsage: false });
      expect(body).not.toContain('stream_options');
    });
  });

  describe('conversations and payloads', () => {
    const options = { model: 'm', sampling: { temperature: 0 }, includeUsage: true };
    const bodyOf = (request: object, changes = {}): unknown =>
      JSON.parse(chat.body({ prompt: 'hi', max_tokens: 5, ...request }, { ...options, ...changes }));

    test('the history precedes the prompt', () => {
      const history = [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
      ];
      expect(bodyOf({ history })).toMatchObject({ messages: [...history, { role: 'user', content: 'hi' }] });
    });

    test('not streamed: usage is not requested', () => {
      expect(bodyOf({}, { stream: false })).toEqual({
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 5,
        stream: false,
        temperature: 0,
      });
    });

    test('a payload is unchanged, except for what the run sets', () => {
      const payload = {
        messages: [{ role: 'user', content: 'x' }],
        temperature: 1,
        stream: false,
        max_completion_tokens: 3,
      };
      expect(bodyOf({ payload })).toEqual({
        ...payload,
        model: 'm',
        stream: true,
        stream_options: { include_usage: true },
      });
      expect(bodyOf({ payload: { model: 'other', stream_options: { x: 1 } } }, { includeUsage: false })).toEqual({
        model: 'other',
        temperature: 0,
        max_tokens: 5,
        stream: true,
      });
    });
  });

  describe('whole answers', () => {
    const response = (message: object): unknown => ({
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });

    test.each([
      ['text', { role: 'assistant', content: 'a', tool_calls: [] }, { output: 'a', reasoning: '' }],
      [
        'reasoning under both names',
        { content: null, reasoning: 'r', reasoning_content: 'r' },
        { output: '', reasoning: 'r' },
      ],
      ['a refusal', { content: null, refusal: 'no' }, { output: 'no', reasoning: '' }],
    ])('%s', (_name, message, text) => {
      expect(chat.interpretWhole(response(message))).toMatchObject({
        content: true,
        finishReason: 'stop',
        error: null,
      });
      expect(chat.text(response(message))).toEqual(text);
    });

    test('a stream event is none', () => {
      expect(chat.interpretWhole({ foo: 1 })).toBeNull();
      expect(chat.interpretWhole(chunk({ content: 'a' }))).toMatchObject({ content: false });
    });
  });

  describe('meaning of events', () => {
    test.each([
      ['text', chunk({ content: 'a' }), PLAIN],
      ['role only, empty content', chunk({ role: 'assistant', content: '' }), EMPTY],
      ['role only, null content', chunk({ role: 'assistant', content: null }), EMPTY],
      ['empty delta with the finish', chunk({}, 'stop'), { ...EMPTY, finishReason: 'stop' }],
      ['reasoning_content', chunk({ reasoning_content: 'hm', content: null }), { ...PLAIN, reasoning: true }],
      ['reasoning', chunk({ reasoning: 'hm' }), { ...PLAIN, reasoning: true }],
      ['reasoning and content', chunk({ reasoning: 'hm', content: 'a' }), PLAIN],
      [
        'first piece of a tool call',
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] }),
        PLAIN,
      ],
      ['further piece of a tool call', chunk({ tool_calls: [{ index: 1, function: { arguments: '{' } }] }), PLAIN],
      ['empty piece of a tool call', chunk({ tool_calls: [{ index: 1, function: { arguments: '' } }] }), EMPTY],
      ['legacy function call', chunk({ function_call: { name: 'f' } }), PLAIN],
      ['refusal', chunk({ refusal: 'no' }), PLAIN],
      [
        'two choices in one event: the first one counts',
        {
          choices: [
            { index: 1, delta: { content: 'b' } },
            { index: 0, delta: {}, finish_reason: 'length' },
          ],
        },
        { ...EMPTY, finishReason: 'length' },
      ],
      ['finish by length', chunk({ content: 'a' }, 'length'), { ...PLAIN, finishReason: 'length' }],
      ['no finish', chunk({ content: 'a' }, ''), PLAIN],
      ['no finish, as a word', chunk({ content: 'a' }, 'null'), PLAIN],
      ['finish by content filter', chunk({}, 'content_filter'), { ...EMPTY, finishReason: 'content_filter' }],
      ['abort is a failure', chunk({}, 'abort'), { ...EMPTY, finishReason: 'abort', error: 'finish_reason abort' }],
      ['error object', { error: { message: 'no', code: 500 } }, { ...EMPTY, error: 'no' }],
      ['error text', { error: 'no' }, { ...EMPTY, error: 'no' }],
      ['error by its code', { code: 500, message: 'no' }, { ...EMPTY, error: 'no' }],
      ['error by its type', { type: 'error', message: 'no' }, { ...EMPTY, error: 'no' }],
      ['error of older engines', { object: 'error', message: 'no' }, { ...EMPTY, error: 'no' }],
      ['null error beside choices', { ...(chunk({ content: 'a' }) as object), error: null }, PLAIN],
    ])('%s', (_name, event, meaning) => {
      expect(chat.interpret(event)).toEqual(meaning);
    });

    test.each([[2], [null], [undefined]])('index %p of the only choice is the choice', (index) => {
      expect(chat.interpret({ choices: [{ index, delta: { content: 'a' } }] })).toEqual(PLAIN);
    });

    test('another choice of several', () => {
      const event = { choices: [{ index: 2, delta: { content: 'a' }, finish_reason: 'stop' }] };
      expect(chat.interpret(event, true)).toEqual(EMPTY);
    });

    test('usage with its details, without choices', () => {
      const usage = {
        prompt_tokens: 10,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 5 },
      };
      expect(chat.interpret({ choices: [], usage })).toEqual({
        ...EMPTY,
        usage: { input_tokens: 10, output_tokens: 20, reasoning_tokens: 5, cached_tokens: 4 },
      });
    });

    test.each([
      ['OpenAI', { audio_tokens: 7 }, { audio_tokens: 7 }],
      ['vLLM', { multimodal_tokens: { image: 576, audio: 12 } }, { image_tokens: 576, audio_tokens: 12 }],
    ])('tokens of images and audio in the prompt, as %s names them', (_server, details, expected) => {
      const usage = { prompt_tokens: 600, completion_tokens: 2, prompt_tokens_details: details };
      expect(chat.interpret({ choices: [], usage })?.usage).toEqual({
        ...{ input_tokens: 600, output_tokens: 2, reasoning_tokens: null, cached_tokens: null },
        ...expected,
      });
    });

    test.each([
      [
        'reasoning beside the output',
        { total_tokens: 120, completion_tokens_details: { reasoning_tokens: 18 } },
        20,
        18,
      ],
      ['reasoning in the total alone', { total_tokens: 120 }, 20, 18],
      ['more reasoning than output, without a total', { reasoning_tokens: 18 }, 20, 18],
      ['reasoning in the output', { total_tokens: 102, completion_tokens_details: { reasoning_tokens: 1 } }, 2, 1],
      ['cached tokens beside the input', { total_tokens: 182, prompt_tokens_details: { cached_tokens: 80 } }, 2, null],
      ['a total without the input', { total_tokens: 2 }, 2, null],
    ])('tokens of %s', (_name, more, output_tokens, reasoning_tokens) => {
      const usage = { prompt_tokens: 100, completion_tokens: 2, ...more };
      expect(chat.interpret({ choices: [], usage })?.usage).toMatchObject({ output_tokens, reasoning_tokens });
    });

    test('null usage is none; what usage does not report is unknown, not zero', () => {
      expect(chat.interpret({ choices: [], usage: null })?.usage).toBeNull();
      expect(chat.interpret({ choices: [], usage: { completion_tokens: -1 } })?.usage).toBeNull();
      expect(chat.interpret({ choices: [], usage: { completion_tokens: 3 } })?.usage).toEqual({
        input_tokens: null,
        output_tokens: 3,
        reasoning_tokens: null,
        cached_tokens: null,
      });
    });

    test.each([['a text'], [null], [[]], [3], [{}], [{ foo: 1 }]])('%j is not of the protocol', (event) => {
      expect(chat.interpret(event)).toBeNull();
    });
  });
});

describe('completions', () => {
  const EMPTY = { content: false, finishReason: null, usage: null, error: null };
  const chunk = (text: string, finish_reason: string | null = null): unknown => ({
    id: 'cmpl-1',
    object: 'text_completion',
    choices: [{ index: 0, text, logprobs: null, finish_reason, stop_reason: null }],
  });

  test('body: roles become one text', () => {
    const history = [{ role: 'system', content: 'be brief' }] as const;
    const request = { prompt: 'hi', history, max_tokens: 5 };
    expect(JSON.parse(completions.body(request, { model: 'm', sampling: {}, includeUsage: true }))).toEqual({
      model: 'm',
      prompt: 'be brief\n\nhi',
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test.each([
    ['text', chunk('a'), { ...EMPTY, content: true }],
    ['empty text', chunk(''), EMPTY],
    ['finish', chunk('', 'length'), { ...EMPTY, finishReason: 'length' }],
    ['abort', chunk('', 'abort'), { ...EMPTY, finishReason: 'abort', error: 'finish_reason abort' }],
    ['error', { error: { message: 'no' } }, { ...EMPTY, error: 'no' }],
  ])('%s', (_name, event, meaning) => {
    expect(completions.interpret(event)).toEqual(meaning);
    expect(completions.interpretWhole(event)).toEqual(meaning);
  });

  test('another choice of several', () => {
    const event = { choices: [{ index: 1, text: 'a', finish_reason: null }] };
    expect(completions.interpret(event, true)).toEqual(EMPTY);
    expect(completions.interpretWhole(event, true)).toEqual(EMPTY);
  });

  test('text and usage of a whole answer', () => {
    const response = {
      choices: [{ index: 0, text: 'abc', finish_reason: 'stop' }],
      usage: { prompt_tokens: 4, completion_tokens: 3 },
    };
    expect(completions.text(response)).toEqual({ output: 'abc', reasoning: '' });
    expect(completions.interpretWhole(response)?.usage).toMatchObject({ input_tokens: 4, output_tokens: 3 });
  });
});
