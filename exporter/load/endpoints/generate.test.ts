import { describe, expect, test } from '@jest/globals';
import { sglangGenerate, tritonGenerate } from './generate.ts';

describe('sglang generate', () => {
  const event = (text: string, completion_tokens: number, finish_reason: unknown = null): unknown => ({
    text,
    output_ids: [1],
    meta_info: {
      id: 'a1',
      finish_reason,
      prompt_tokens: 5,
      weight_version: 'default',
      completion_tokens,
      cached_tokens: 1,
      e2e_latency: 0.25,
    },
  });
  const usage = (output_tokens: number): object => ({
    input_tokens: 5,
    output_tokens,
    reasoning_tokens: null,
    cached_tokens: 1,
  });

  test('body: extra inputs are sampling parameters, unless they are of the request', () => {
    const options = {
      model: 'm',
      sampling: { temperature: 0, ignore_eos: true, return_logprob: true },
      includeUsage: true,
    };
    expect(JSON.parse(sglangGenerate.body({ prompt: 'hi', max_tokens: 5 }, options))).toEqual({
      text: 'hi',
      sampling_params: { temperature: 0, ignore_eos: true, max_new_tokens: 5 },
      return_logprob: true,
      stream: true,
    });
  });

  test.each([
    ['a step', event(' Paris', 1), { content: true, finishReason: null, usage: usage(1), error: null, progress: 1 }],
    [
      'the last step',
      event(' Paris.', 2, { type: 'length', length: 2 }),
      { content: true, finishReason: 'length', usage: usage(2), error: null, progress: 2 },
    ],
    [
      'abort',
      event('', 0, { type: 'abort', message: 'too long', status_code: 400 }),
      { content: false, finishReason: 'abort', usage: usage(0), error: 'finish_reason abort: too long', progress: 0 },
    ],
    [
      'an error under HTTP 200',
      { error: { message: 'the input is too long' } },
      { content: false, finishReason: null, usage: null, error: 'the input is too long', progress: 0 },
    ],
  ])('%s', (_name, given, meaning) => {
    expect(sglangGenerate.interpret(given)).toEqual(meaning);
  });

  test('other protocols', () => {
    expect(sglangGenerate.interpret({ choices: [] })).toBeNull();
    expect(sglangGenerate.text(event('ab', 1))).toEqual({ output: 'ab', reasoning: '' });
  });
});

describe('triton generate', () => {
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
});
