import { onePerInstance, orderedServers } from './list-servers.ts';

const series = (...servers: string[]) =>
  servers.map((server) => {
    const [job = '', instance = ''] = server.split('/');
    return { labels: { job, instance, __name__: 'a_bucket' }, count: 0 };
  });

test('servers that are still scraped come first, of them those with known counts at the start', () => {
  const servers = orderedServers({
    atStart: series('vllm/c:1', 'vllm/a:1'),
    inRange: series('vllm/a:1', 'vllm/b:1', 'vllm/c:1', 'vllm/d:1'),
    atEnd: series('vllm/b:1', 'vllm/c:1'),
  });
  expect(servers.map(({ instance, histogramName }) => [instance, histogramName])).toEqual([
    ['c:1', null],
    ['b:1', null],
    ['a:1', 'a_bucket'],
    ['d:1', 'a_bucket'],
  ]);
});

test('of them first those that served requests in the time range', () => {
  const counted = (server: string, ...counts: number[]) =>
    counts.flatMap((count) => series(server).map((one) => ({ ...one, count })));
  const servers = orderedServers({
    atStart: [...counted('vllm/a:1', 5, 7), ...counted('vllm/b:1', 5, 7), ...counted('vllm/d:1', 9)],
    inRange: [],
    atEnd: [
      ...counted('vllm/a:1', 5, 7),
      ...counted('vllm/b:1', 5, 8),
      ...counted('vllm/c:1', 3),
      ...counted('vllm/d:1', 2),
    ],
  });
  expect(servers.map(({ instance }) => instance)).toEqual(['b:1', 'd:1', 'c:1', 'a:1']);
});

test('a server whose last scrape is before a short range is listed', () => {
  const servers = orderedServers({ atStart: [], inRange: [], atEnd: series('vllm/a:1') });
  expect(servers).toEqual([{ job: 'vllm', instance: 'a:1', histogramName: null }]);
});

test('a server that two jobs scrape is offered once, under the chosen job', () => {
  const servers = orderedServers({ atStart: [], inRange: [], atEnd: series('discovered/a:1', 'vllm/a:1') });
  expect(onePerInstance(servers, undefined).map(({ job }) => job)).toEqual(['discovered']);
  expect(onePerInstance(servers, servers[1]).map(({ job }) => job)).toEqual(['vllm']);
});
