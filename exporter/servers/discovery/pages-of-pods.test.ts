import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Pod } from './pod.ts';
import { pagesOfPods } from './pages-of-pods.ts';

const { items } = JSON.parse(readFileSync(new URL('fixtures/pods.json', import.meta.url), 'utf8')) as {
  items: readonly Pod[];
};
const { pages, skipped } = pagesOfPods(items);
const pageOf = (name: string): readonly string[] => pages.filter(({ pod }) => pod === name).map(({ url }) => url);

test.each([
  ['an engine of the vLLM production stack', 'stack-llama3-deployment-vllm-0', 'http://10.0.0.11:8000/metrics'],
  ['its router', 'stack-deployment-router-0', 'http://10.0.0.12:8000/metrics'],
  ["a frontend of Dynamo's operator", 'dynamo-frontend-0', 'http://10.0.0.13:8000/metrics'],
  ['its workers, at the port of the system', 'dynamo-decode-0', 'http://10.0.0.14:9090/metrics'],
  ['its planner', 'dynamo-planner-0', 'http://10.0.0.15:9085/metrics'],
  ['a predictor of KServe, by its annotations', 'llama-predictor-0', 'http://10.0.0.17:8080/metrics'],
  ['SGLang, by the number of its port', 'sglang-0', 'http://10.0.0.18:30000/metrics'],
  ['Triton, not at the port of its API', 'triton-0', 'http://10.0.0.19:8002/metrics'],
  ['NIM, at its own path', 'nim-0', 'http://10.0.0.20:8000/v1/metrics'],
  ['an engine of llm-d, not its routing proxy', 'llm-d-decode-0', 'http://10.0.0.21:8200/metrics'],
  ['TensorRT-LLM, whose /metrics is JSON', 'trtllm-0', 'http://10.0.0.22:8000/prometheus/metrics'],
  ['any pod, by annotations of Prometheus', 'annotated-0', 'https://[fd00::17]:9400/custom'],
])('finds the page of %s', (_, name, url) => {
  expect(pageOf(name)).toEqual([url]);
});

test('names the running pods that are not read, with the reason', () => {
  expect(skipped).toEqual([
    'dynamo-silent-0: its label nvidia.com/metrics-enabled is false',
    'refused-0: its annotation prometheus.io/scrape is false',
    'wrong-0: its annotation prometheus.io/port is not a port',
    expect.stringMatching(/^grpc-0: no port has the name or number of a metrics page/),
  ]);
});

test('leaves out pods that are not running, or about to end', () => {
  expect(pages.map(({ pod }) => pod)).not.toEqual(expect.arrayContaining(['pending-0']));
  expect(pages.map(({ pod }) => pod)).not.toEqual(expect.arrayContaining(['ending-0']));
  expect(pages).toHaveLength(12);
});

test('a pod without an address, ports or metadata is not read', () => {
  const running = { phase: 'Running' };
  expect(pagesOfPods([{ status: running }, { status: { ...running, podIP: '10.0.0.1' }, spec: {} }])).toEqual({
    pages: [],
    skipped: [expect.stringContaining('no address'), expect.stringContaining('no port')],
  });
});
