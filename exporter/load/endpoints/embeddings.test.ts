import { expect, test } from '@jest/globals';
import { embeddings } from './embeddings.ts';

test('body', () => {
  const options = { model: 'm', sampling: { dimensions: 8 }, includeUsage: true, stream: false };
  expect(JSON.parse(embeddings.body({ prompt: 'hi', max_tokens: 5 }, options))).toEqual({
    model: 'm',
    input: 'hi',
    dimensions: 8,
  });
});

const response = (embedding: unknown): unknown => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding }],
  usage: { prompt_tokens: 6, total_tokens: 6, completion_tokens: 0 },
});
const usage = { input_tokens: 6, output_tokens: null, reasoning_tokens: null, cached_tokens: null };

test.each([
  ['numbers', response([0.5, 1]), true],
  ['base64', response('AAAA'), true],
  ['no vector', response([]), false],
])('%s; there are no output tokens, not 0', (_name, json, content) => {
  expect(embeddings.interpretWhole(json)).toEqual({ content, finishReason: null, usage, error: null });
});

test('errors and other protocols', () => {
  expect(embeddings.interpretWhole({ error: 'no' })).toMatchObject({ error: 'no' });
  expect(embeddings.interpretWhole({ choices: [] })).toBeNull();
});
