import { expect, test } from '@jest/globals';
import { tritonGenerate } from './triton-generate.ts';

const triton = tritonGenerate('my model', true);

test('path and body', () => {
  expect(triton.path).toBe('/v2/models/my%20model/generate_stream');
  expect(tritonGenerate('ensemble', false).path).toBe('/v2/models/ensemble/generate');
  const options = { model: 'm', sampling: { bad_words: '', return_num_output_tokens: true }, includeUsage: true };
  expect(JSON.parse(triton.body({ prompt: 'hi', max_tokens: 5 }, options))).toEqual({
    text_input: 'hi',
    max_tokens: 5,
    stream: true,
    bad_words: '',
    return_num_output_tokens: true,
  });
});

const event = (text_output: string, more: object = {}): unknown => ({
  model_name: 'ensemble',
  model_version: '1',
  sequence_end: false,
  text_output,
  ...more,
});
const PLAIN = { content: true, finishReason: null, usage: null, error: null };
const usage = { input_tokens: 4, output_tokens: 2, reasoning_tokens: null, cached_tokens: null };

test.each([
  ['text', event(' Paris'), PLAIN],
  ['no text', event(''), { ...PLAIN, content: false }],
  ['counts', event('ab', { num_input_tokens: 4, num_output_tokens: 2 }), { ...PLAIN, usage }],
  [
    'counts without text',
    event('', { num_input_tokens: 4, num_output_tokens: 2 }),
    { ...PLAIN, content: false, usage, emptyStep: true },
  ],
  ['finish reason', event('', { finish_reason: 'length' }), { ...PLAIN, content: false, finishReason: 'length' }],
  ['no finish reason yet', event('a', { finish_reason: 'null' }), PLAIN],
  [
    'an error under HTTP 200',
    { error: 'in ensemble: out of memory' },
    { ...PLAIN, content: false, error: 'in ensemble: out of memory' },
  ],
])('%s', (_name, given, meaning) => {
  expect(triton.interpret(given)).toEqual(meaning);
});

test('other protocols', () => {
  expect(triton.interpret({ choices: [] })).toBeNull();
  expect(triton.interpret({ outputs: [] })).toBeNull();
});
