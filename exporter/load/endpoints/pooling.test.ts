import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from './endpoint.ts';
import { embeddings, nimRanking, pooling, rerank, score, teiRerank } from './pooling.ts';

const OPTIONS = { model: 'm', sampling: { top_n: 2 }, includeUsage: true, stream: false };
const bodyOf = (endpoint: Endpoint, request: { prompt: string; documents?: readonly string[]; payload?: object }) =>
  JSON.parse(endpoint.body({ max_tokens: 0, ...request } as Parameters<Endpoint['body']>[0], OPTIONS)) as unknown;

describe('bodies', () => {
  test.each<[Endpoint, Parameters<typeof bodyOf>[1], object]>([
    [embeddings, { prompt: 'hi' }, { input: 'hi' }],
    [embeddings, { prompt: '', documents: ['a', 'b'] }, { input: ['a', 'b'] }],
    [pooling, { prompt: '', documents: ['a', 'b'] }, { input: ['a', 'b'] }],
    [rerank, { prompt: 'q', documents: ['a', 'b'] }, { query: 'q', documents: ['a', 'b'] }],
    [score, { prompt: 'q', documents: ['a'] }, { text_1: 'q', text_2: ['a'] }],
    [rerank, { prompt: '', payload: { query: 'p', documents: ['d'] } }, { query: 'p', documents: ['d'] }],
  ])('$type %j', (endpoint, request, expected) => {
    expect(bodyOf(endpoint, request)).toEqual({ model: 'm', top_n: 2, ...expected });
  });

  test('of TEI, which has no model, and of NIM', () => {
    const request = { prompt: 'q', documents: ['a', 'b'] };
    expect(bodyOf(teiRerank, request)).toEqual({ top_n: 2, query: 'q', texts: ['a', 'b'] });
    expect(bodyOf(nimRanking, request)).toEqual({
      ...{ model: 'm', top_n: 2 },
      ...{ query: { text: 'q' }, passages: [{ text: 'a' }, { text: 'b' }] },
    });
  });

  test('the number of documents, also of a prepared body', () => {
    const count = (endpoint: Endpoint, payload: object) =>
      endpoint.documents?.({ prompt: '', max_tokens: 0, payload: payload as never });
    expect(embeddings.documents?.({ prompt: 'a', max_tokens: 0 })).toBe(1);
    expect(embeddings.documents?.({ prompt: '', documents: ['a', 'b'], max_tokens: 0 })).toBe(2);
    expect(count(rerank, { query: 'q', documents: ['a', 'b', 'c'] })).toBe(3);
    expect(count(score, { text_1: 'q', text_2: 'a' })).toBe(1);
    // Numbers are the tokens of one text.
    expect(count(embeddings, { input: [1, 2, 3] })).toBe(1);
  });
});

const USAGE = { input_tokens: 6, output_tokens: null, reasoning_tokens: null, cached_tokens: null };
const listOf = (data: readonly object[]) => ({
  object: 'list',
  data,
  usage: { prompt_tokens: 6, total_tokens: 6, completion_tokens: 0 },
});

describe('responses; there are no output tokens, not 0', () => {
  test.each<[string, Endpoint, unknown, boolean, object | null]>([
    ['numbers', embeddings, listOf([{ index: 0, embedding: [0.5, 1] }]), true, USAGE],
    ['base64', embeddings, listOf([{ index: 0, embedding: 'AAAA' }]), true, USAGE],
    ['no vector', embeddings, listOf([{ index: 0, embedding: [] }]), false, USAGE],
    ['one of two', embeddings, listOf([{ embedding: [1] }, { embedding: [] }]), false, USAGE],
    ['a vector per token', pooling, listOf([{ index: 0, data: [[0.5], [1]] }]), true, USAGE],
    ['a score, which may be 0', score, listOf([{ index: 0, object: 'score', score: 0 }]), true, USAGE],
    [
      'vLLM',
      rerank,
      { results: [{ index: 1, relevance_score: 0.9 }], usage: { prompt_tokens: 6, total_tokens: 6 } },
      true,
      USAGE,
    ],
    ['Jina', rerank, { results: [{ index: 1, relevance_score: 0.9 }], usage: { total_tokens: 6 } }, true, USAGE],
    [
      'Cohere',
      rerank,
      {
        results: [{ index: 1, relevance_score: 0.9 }],
        meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 6 } },
      },
      true,
      USAGE,
    ],
    ['SGLang', rerank, [{ index: 0, score: 0.9, document: 'a' }], true, null],
    ['list', teiRerank, [{ index: 1, score: 0.9 }], true, null],
    [
      'rankings',
      nimRanking,
      { rankings: [{ index: 1, logit: -2.5 }], usage: { prompt_tokens: 6, total_tokens: 6 } },
      true,
      USAGE,
    ],
    ['no result', rerank, { results: [] }, false, null],
  ])('$1 %s', (_name, endpoint, json, content, usage) => {
    expect(endpoint.interpretWhole(json)).toEqual({ content, finishReason: null, usage, error: null });
  });

  test('errors and other protocols', () => {
    expect(embeddings.interpretWhole({ error: 'no' })).toMatchObject({ error: 'no' });
    expect(embeddings.interpretWhole({ choices: [] })).toBeNull();
    expect(rerank.interpretWhole({ data: [] })).toBeNull();
    expect(teiRerank.interpretWhole({ error: 'too many', error_type: 'Validation' })).toMatchObject({
      error: 'too many',
    });
  });
});
