import { expect, test } from '@jest/globals';
import { repeatedSeries } from './same-process.ts';
import { pagesOf, replay } from './testing/recorded-pages.ts';

const latency = (count: number, sum: number): string =>
  `# TYPE l_seconds histogram\nl_seconds_bucket{le="1"} ${count}\nl_seconds_bucket{le="+Inf"} ${count}\nl_seconds_sum ${sum}\nl_seconds_count ${count}`;
const requests = (count: number): string => `# TYPE r_total counter\nr_total ${count}`;
const names = (pages: readonly string[][]): string[] => {
  const stores = pages.map((texts) => replay(pagesOf(...texts)));
  return Array.from(repeatedSeries(stores), ([series, target]) => `${series.family.name} of ${target}`);
};

test("an engine's families that a gateway passes through are on two pages, once", () => {
  const engine = [`${latency(3, 0.25)}`, `${latency(9, 1.75)}`];
  const gateway = [`${requests(3)}\n${latency(3, 0.25)}`, `${requests(9)}\n${latency(9, 1.75)}`];
  expect(names([gateway, engine])).toEqual(['l_seconds of 0']);
});

test('one process at two addresses repeats all but what the client library says of each page', () => {
  const page = `${requests(5)}\n${latency(5, 0.3)}\nprocess_cpu_seconds_total 3\n# TYPE g gauge\ng 1`;
  expect(names([[page], [page], ['other 1']])).toEqual(['r_total of 0', 'g of 0', 'l_seconds of 0']);
});

test('replicas that served as many requests are two', () => {
  expect(names([[requests(100)], [requests(100)]])).toEqual([]);
  expect(names([[`${requests(100)}\n${latency(100, 7.5)}`], [`${requests(100)}\n${latency(100, 7.6)}`]])).toEqual([]);
});

test('pages where nothing happened are not known to be one', () => {
  expect(names([[`${requests(0)}\n${latency(0, 0)}`], [`${requests(0)}\n${latency(0, 0)}`]])).toEqual([]);
});
