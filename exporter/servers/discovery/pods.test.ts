import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { pagesOfPods, type Pod, type PodContainer } from './pods.ts';

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

describe('a pod with several containers', () => {
  const pod = (containers: readonly PodContainer[], initContainers: readonly PodContainer[] = []): Pod => ({
    metadata: { name: 'pod-0' },
    spec: { containers, initContainers },
    status: { phase: 'Running', podIP: '10.0.0.1' },
  });
  const container = (name: string, image: string, ...ports: readonly (readonly [string, number])[]): PodContainer => ({
    ...{ name, image },
    ports: ports.map(([portName, containerPort]) => ({ name: portName, containerPort })),
  });
  const vllm = container('vllm', 'vllm/vllm-openai:v0.11.0', ['http', 8000]);
  const own = container('server', 'registry.corp/llm:7', ['http', 8000], ['grpc', 9000]);
  const logs = container('logs', 'fluent/fluent-bit:4', ['metrics', 2020]);
  const read = (found: Pod): readonly string[] => pagesOfPods([found]).pages.map(({ url }) => new URL(url).port);

  test("is read at its engine's port, and the metrics of a sidecar are named as not read", () => {
    for (const found of [pod([vllm, logs]), pod([logs, vllm]), pod([vllm], [{ ...logs, restartPolicy: 'Always' }])]) {
      expect(read(found)).toEqual(['8000']);
      expect(pagesOfPods([found]).skipped).toEqual(['pod-0: port 2020 of logs, which is not an engine']);
    }
  });

  test('of unknown images is read at the ports of metrics and at the API beside them', () => {
    expect(read(pod([own, logs]))).toEqual(['2020', '8000']);
    expect(read(pod([container('server', 'corp/llm', ['http', 8000], ['metrics', 9100])]))).toEqual(['9100']);
  });

  test('two engines in one pod are both read', () => {
    const second = container('decode', 'lmsysorg/sglang:v0.5.5', ['api', 30_000]);
    expect(read(pod([vllm, second]))).toEqual(['8000', '30000']);
  });

  test('an init container that has ended is not read', () => {
    const loader = container('loader', 'corp/loader', ['metrics', 9000]);
    expect(pagesOfPods([pod([vllm], [loader])])).toMatchObject({ skipped: [], pages: [{ pod: 'pod-0' }] });
    expect(read(pod([own], [loader]))).toEqual(['8000']);
  });
});
