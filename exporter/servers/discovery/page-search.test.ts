import { expect, test } from '@jest/globals';
import { parsePageSearch, searchName } from './search-watch.ts';

test('reads a namespace with a label selector, commas included', () => {
  expect(parsePageSearch('k8s:inference/app=vllm,tier in (a, b)')).toEqual({
    ...{ kind: 'kubernetes', namespace: 'inference', selector: 'app=vllm,tier in (a, b)' },
  });
  expect(parsePageSearch('k8s:ns/llm-d.ai/inferenceServing=true')).toMatchObject({
    selector: 'llm-d.ai/inferenceServing=true',
  });
});

test('reads a URL of service discovery, and names it without secrets', () => {
  const search = parsePageSearch('http-sd:https://user:secret@sd:8080/targets?token=secret');
  expect(search).toEqual({ kind: 'http-sd', url: 'https://user:secret@sd:8080/targets?token=secret' });
  expect(search && searchName(search)).toBe('http-sd:https://sd:8080/targets');
});

test.each(['localhost:8000', 'triton=host', 'http://k8s:8000', 'k8s', 'http-sd'])('%s is a page', (text) => {
  expect(parsePageSearch(text)).toBeNull();
});

test.each(['k8s:', 'k8s:inference', 'k8s:inference/', 'k8s:/app=vllm', 'k8s:In_ference/app=vllm'])(
  '%s is refused with an example',
  (text) => {
    expect(() => parsePageSearch(text)).toThrow('k8s:inference/app=vllm');
  },
);

test.each(['http-sd:', 'http-sd:host:8080', 'http-sd:file:///etc/targets'])('%s is refused with an example', (text) => {
  expect(() => parsePageSearch(text)).toThrow('http-sd:http://');
});
