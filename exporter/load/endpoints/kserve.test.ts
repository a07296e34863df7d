import { describe, expect, test } from '@jest/globals';
import { kserveInfer } from './kserve.ts';

const endpoint = kserveInfer('my model');
const options = { model: 'my model', sampling: {}, includeUsage: true, stream: false };
const bodyOf = (sampling: object, changes = {}): unknown =>
  JSON.parse(endpoint.body({ prompt: 'hi', max_tokens: 5 }, { ...options, sampling: sampling as never, ...changes }));

describe('kserve_infer', () => {
  test('has the model in its path, and tensors of the Open Inference Protocol', () => {
    expect(endpoint.path).toBe('/v2/models/my%20model/infer');
    expect(bodyOf({ temperature: 0.5, top_k: 1, stream: false, stop_words: 'x' })).toEqual({
      inputs: [
        { name: 'text_input', shape: [1, 1], datatype: 'BYTES', data: ['hi'] },
        { name: 'max_tokens', shape: [1, 1], datatype: 'INT32', data: [5] },
        { name: 'temperature', shape: [1, 1], datatype: 'FP32', data: [0.5] },
        { name: 'top_k', shape: [1, 1], datatype: 'INT32', data: [1] },
        { name: 'stream', shape: [1, 1], datatype: 'BOOL', data: [false] },
        { name: 'stop_words', shape: [1, 1], datatype: 'BYTES', data: ['x'] },
      ],
    });
    expect(bodyOf({}, { omitted: ['max_tokens'] })).toEqual({
      inputs: [{ name: 'text_input', shape: [1, 1], datatype: 'BYTES', data: ['hi'] }],
    });
  });

  const tensor = (name: string, data: unknown): object => ({ name, datatype: 'BYTES', shape: [1, 1], data });
  test.each<[string, object, object | null]>([
    ['the tensor', { outputs: [tensor('text_output', ['Hello'])] }, { content: true, error: null }],
    ['the only one, nested', { outputs: [tensor('OUTPUT', [['Hello']])] }, { content: true, error: null }],
    ['another of two', { outputs: [tensor('a', ['x']), tensor('b', ['y'])] }, { content: false, error: null }],
    ['no text', { outputs: [tensor('text_output', [''])] }, { content: false, error: null }],
    ['an error', { error: 'unexpected shape for input' }, { content: false, error: 'unexpected shape for input' }],
    ['another protocol', { text_output: 'Hello' }, null],
  ])('%s', (_, response, expected) => {
    const meaning = endpoint.interpretWhole(response);
    if (expected === null) expect(meaning).toBeNull();
    else expect(meaning).toEqual({ ...expected, finishReason: null, usage: null });
  });

  test('its text is that of the tensor', () => {
    expect(endpoint.text({ outputs: [tensor('text_output', ['Hello'])] })).toEqual({ output: 'Hello', reasoning: '' });
  });
});
