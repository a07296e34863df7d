import { expect, test } from '@jest/globals';
import { completions } from './completions.ts';

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
