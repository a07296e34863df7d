import { serverQueries, systemsOfSeries } from './server-queries.ts';

const one = (refId: string, instance: string, value: number, job = 'vllm') => ({
  refId,
  labels: { job, instance },
  times: [0],
  values: [value],
});

test('a server that is gone is there, without numbers', () => {
  const [system] = systemsOfSeries([
    one('vllm presence', 'b:8000', 1),
    one('vllm presence', 'a:8000', 1),
    one('up', 'b:8000', 1),
    one('vllm running', 'b:8000', 3),
    one('vllm kvCache', 'b:8000', 0),
  ]);
  expect(system?.system.title).toBe('vLLM');
  expect(system?.servers).toEqual([
    {
      jobs: ['vllm'],
      instance: 'a:8000',
      up: false,
      running: null,
      waiting: null,
      kvCache: null,
      outputTokens: null,
      requests: null,
    },
    {
      jobs: ['vllm'],
      instance: 'b:8000',
      up: true,
      running: 3,
      waiting: null,
      kvCache: 0,
      outputTokens: null,
      requests: null,
    },
  ]);
});

test('a server that two jobs scrape is one server: both are named, the one that scrapes it now first', () => {
  const [system] = systemsOfSeries([
    one('vllm presence', 'a:8000', 1, 'llmbench-targets'),
    one('vllm presence', 'a:8000', 1, 'vllm'),
    one('up', 'a:8000', 1, 'vllm'),
    one('vllm running', 'a:8000', 3, 'vllm'),
    one('vllm requests', 'a:8000', 2, 'llmbench-targets'),
  ]);
  expect(system?.servers).toEqual([
    expect.objectContaining({
      jobs: ['vllm', 'llmbench-targets'],
      instance: 'a:8000',
      up: true,
      running: 3,
      requests: 2,
    }),
  ]);
});

test('every query has a name of its own', () => {
  const names = serverQueries(60).map(({ refId }) => refId);
  expect(new Set(names).size).toBe(names.length);
});
