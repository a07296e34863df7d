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
      ...{ worker: null, run: null, lastSeenMs: null },
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
      ...{ worker: null, run: null, lastSeenMs: null },
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

test('engines are under the frontend of their newest run; a server says when and in which run it was seen last', () => {
  const run = (address: string, run_id: string, system: string, began: number) => ({
    ...{ refId: 'run', labels: { run_id, address, scenario: `of ${run_id}`, system }, times: [0], values: [began] },
  });
  const systems = systemsOfSeries([
    one('dynamo presence', 'front:8000', 1, 'dynamo'),
    one('vllm presence', 'worker:9000', 1),
    one('vllm presence', 'other:8000', 1),
    one('triton presence', 'neighbor:8002', 1),
    one('seen', 'worker:9000', 1700),
    run('worker:9000', 'new', 'dynamo', 200),
    run('worker:9000', 'old', 'vllm', 100),
    run('neighbor:8002', 'new', 'vllm', 200),
    { refId: 'ended', labels: { run_id: 'new' }, times: [0], values: [1800] },
  ]);
  expect(systems.map(({ system, servers }) => [system.id, servers.map(({ instance }) => instance).join()])).toEqual([
    ['vllm', 'other:8000'],
    ['dynamo', 'front:8000,worker:9000'],
    ['triton', 'neighbor:8002'],
  ]);
  expect(systems[1]?.servers[1]).toMatchObject({
    worker: { id: 'vllm' },
    run: { run_id: 'new', scenario: 'of new' },
    lastSeenMs: 1_800_000,
  });
});

test('every query has a name of its own', () => {
  const names = serverQueries(60).map(({ refId }) => refId);
  expect(new Set(names).size).toBe(names.length);
});
