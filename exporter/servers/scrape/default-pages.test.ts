import { expect, test } from '@jest/globals';
import { OWN_PLACES, ownPages, pagesBelow, pagesBeside } from './default-pages.ts';

test("a server's own page: default ports over http, and the path beside the API over the API's scheme", () => {
  const pages = ownPages('https://llm:8000');
  expect(pages.map(({ url }) => url)).toEqual([
    'http://llm:8002/metrics',
    'http://llm:29000/metrics',
    'https://llm:8000/prometheus/metrics',
    'https://llm:8000/v1/metrics',
    'https://llm:8000/engine_metrics',
  ]);
  expect(pages.map(({ url }, i) => url.includes(OWN_PLACES[i] ?? '?'))).toEqual(Array(5).fill(true));
});

test('pages beside a server: by its system, and the exporters of GPUs', () => {
  const urls = (system: string | null): string[] => pagesBeside('http://[::1]:8000', system).map(({ url }) => url);
  const gpus = ['http://[::1]:9400/metrics', 'http://[::1]:9401/metrics', 'http://[::1]:5000/metrics'];
  const nixl = ['http://[::1]:9090/metrics', 'http://[::1]:19090/metrics'];
  expect(urls('dynamo')).toEqual(['http://[::1]:6880/metrics', ...nixl, ...gpus]);
  expect(urls('vllm')).toEqual(['http://[::1]:6880/metrics', ...nixl, ...gpus]);
  expect(urls('sglang')).toEqual([...nixl, ...gpus]);
  expect(urls('triton')).toEqual(gpus);
  expect(urls(null)).toEqual(gpus);
});

test('below the prefix of an ingress, the longest first', () => {
  const urls = (prefix: string): string[] => pagesBelow('https://llm', prefix).map(({ url }) => url);
  expect(urls('/team-a')).toEqual(['https://llm/team-a/metrics']);
  expect(urls('/team-a/chat')).toEqual(['https://llm/team-a/chat/metrics', 'https://llm/team-a/metrics']);
  expect(urls('')).toEqual([]);
});
