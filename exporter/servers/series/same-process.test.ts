import { describe, expect, test } from '@jest/globals';
import { startSimulator } from '../../../simulator/main.ts';
import { repeatedSeries } from './same-process.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const latency = (count: number, sum: number): string =>
  `# TYPE l_seconds histogram\nl_seconds_bucket{le="1"} ${count}\nl_seconds_bucket{le="+Inf"} ${count}\nl_seconds_sum ${sum}\nl_seconds_count ${count}`;
const requests = (count: number): string => `# TYPE r_total counter\nr_total ${count}`;
const names = (pages: readonly string[][]): string[] => {
  const stores = pages.map((texts) => replay(pagesOf(...texts)));
  return Array.from(repeatedSeries(stores), ([series, target]) => `${series.family.name} of ${target}`);
};

test("an engine's families that a gateway passes through are on two pages and counted once", () => {
  const engine = [`${latency(3, 0.25)}`, `${latency(9, 1.75)}`];
  const gateway = [`${requests(3)}\n${latency(3, 0.25)}`, `${requests(9)}\n${latency(9, 1.75)}`];
  expect(names([gateway, engine])).toEqual(['l_seconds of 0']);
});

test("one process at two addresses repeats everything except the client library's own metrics", () => {
  const at = (count: number, sum: number): string =>
    `${requests(count)}\n${latency(count, sum)}\nprocess_cpu_seconds_total ${count}\n# TYPE g gauge\ng 1`;
  const pages = [at(2, 0.1), at(5, 0.3)];
  expect(names([pages, pages, ['other 1']])).toEqual(['r_total of 0', 'g of 0', 'l_seconds of 0']);
});

test('replicas that served equally many requests are two processes', () => {
  const idle = `${requests(0)}\n${latency(0, 0)}`;
  expect(
    names([
      ['', requests(100)],
      ['', requests(100)],
    ]),
  ).toEqual([]);
  const served = (sum: number): string[] => [idle, `${requests(100)}\n${latency(100, sum)}`];
  expect(names([served(7.5), served(7.6)])).toEqual([]);
  expect(names([served(7.5), served(7.5)])).toEqual(['r_total of 0', 'l_seconds of 0']);
});

test("workers' pages that SGLang's gateway has merged are those of the workers, each of its own", () => {
  const worker = (count: number, sum: number): string[] => [
    latency(0, 0).replaceAll('l_seconds', 'sglang:l_seconds'),
    latency(count, sum).replaceAll('l_seconds', 'sglang:l_seconds'),
  ];
  const merge = (...workers: readonly string[][]): string[] =>
    [0, 1].map((i) =>
      workers
        .map((pages, at) =>
          (pages[i] ?? '')
            .replaceAll(':', '_')
            .replaceAll(/\{|(?<=_sum|_count) /g, (end) => `{worker_addr="http://w${at}"${end === '{' ? ',' : '} '}`)
            .replaceAll(/^# .*\n/gm, at === 0 ? '$&' : ''),
        )
        .join('\n'),
    );
  const [first, second] = [worker(4, 0.75), worker(4, 0.5)];
  expect(names([merge(first, second), second])).toEqual(['sglang:l_seconds of 0']);
  expect(names([first, second, merge(first, second)])).toEqual(['sglang:l_seconds of 0', 'sglang:l_seconds of 1']);
  expect(names([merge(first, second), worker(4, 0.25)])).toEqual([]);
});

test('a time that grows between two reads of one process does not make them two', () => {
  const at = (idle: number): string =>
    `${latency(9, 1.75)}\n# TYPE idle_seconds_total counter\nidle_seconds_total ${idle}`;
  const page = (idle: number): string[] => [latency(0, 0), at(idle)];
  expect(names([page(7.25), page(7.5)])).toEqual(['l_seconds of 0', 'idle_seconds_total of 0']);
});

test('pages without activity are not taken for one process', () => {
  expect(names([[`${requests(0)}\n${latency(0, 0)}`], [`${requests(0)}\n${latency(0, 0)}`]])).toEqual([]);
});

describe('two idle Dynamo workers are not one process', () => {
  const worker = (uptime: number): string => `${dynamoWorker}
# TYPE dynamo_component_uptime_seconds gauge
dynamo_component_uptime_seconds{dynamo_namespace="dynamo"} ${uptime}`;
  const dynamoWorker = [
    '# TYPE dynamo_component_requests_total counter',
    ...['generate', 'clear_kv_blocks'].map(
      (endpoint, i) => `dynamo_component_requests_total{e="${endpoint}"} ${7 + i}`,
    ),
    latency(7, 2.25),
  ].join('\n');

  test('both have served equally much before, and nothing since', () => {
    const page = [dynamoWorker, dynamoWorker];
    expect(names([page, page])).toEqual([]);
  });

  test('simulated ones, which start together', async () => {
    const simulator = await startSimulator({ system: 'dynamo', workers: 2 });
    try {
      const read = async (url: string): Promise<string> => (await fetch(url)).text();
      const twice = async (url: string): Promise<string[]> => [await read(url), await read(url)];
      const [, first = '', second = ''] = simulator.metricsUrls;
      const workers = [await twice(first), await twice(second)];
      expect(workers.flat().every((page) => page.includes('dynamo_component_uptime_seconds'))).toBe(true);
      expect(names(workers)).toEqual([]);
    } finally {
      await simulator.close();
    }
  });

  test('uptimes with different starts are evidence, uptimes read one after the other are not', () => {
    const busy = (uptime: number): string => worker(uptime).replaceAll('2.25', '2.5');
    expect(
      names([
        [worker(40), busy(41)],
        [worker(900), busy(901)],
      ]),
    ).toEqual([]);
    expect(
      names([
        [worker(40), busy(41)],
        [worker(40.5), busy(41.5)],
      ]),
    ).toHaveLength(4);
  });
});

describe('evidence of two processes, although all counts agree', () => {
  const served = (sum: number, more: string): string => `${requests(9)}\n${latency(9, sum)}\n${more}`;
  const pages = (more: string): string[] => [served(0.5, more), served(1.5, more)];

  test.each([
    ['a constant gauge', '# TYPE blocks gauge\nblocks 100', '# TYPE blocks gauge\nblocks 90'],
    ['the creation of a series', '# TYPE r_created gauge\nr_created 1000', '# TYPE r_created gauge\nr_created 2000'],
  ])('%s', (_name, one, other) => {
    expect(names([pages(one), pages(other)])).toEqual([]);
    expect(names([pages(one), pages(one)]).length).toBeGreaterThan(0);
  });

  test('a changing gauge is not evidence: it may be read before and after a change', () => {
    const running = (count: number): string => `# TYPE running gauge\nrunning ${count}`;
    const page = [served(0.5, running(1)), served(1.5, running(2))];
    const later = [served(0.5, running(1)), served(1.5, running(0))];
    expect(names([page, later])).toContain('l_seconds of 0');
  });

  test("a process' own start time is evidence, unless a sum agrees to the last digit: a gateway passes through its engine", () => {
    const counts = (start: number): string[] => {
      const at = (n: number): string => [1, 2, 3, 4, 5].map((i) => `c_total{i="${i}"} ${n + i}`).join('\n');
      return [1, 9].map((n) => `# TYPE c_total counter\n${at(n)}\nprocess_start_time_seconds ${start}`);
    };
    expect(names([counts(1000), counts(1000)])).toHaveLength(5);
    expect(names([counts(1000), counts(2000)])).toEqual([]);
    const start = (seconds: number): string => `process_start_time_seconds ${seconds}`;
    expect(names([pages(start(1000)), pages(start(2000))])).toEqual(['r_total of 0', 'l_seconds of 0']);
  });
});
