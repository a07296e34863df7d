import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../core/testing/until.ts';
import { parseTarget, type Target } from '../scrape/targets.ts';
import { SearchWatch, type TargetSearch } from './search-watch.ts';

const pages = (...ports: readonly number[]): Target[] => ports.map((port) => parseTarget(`127.0.0.1:${port}`));

let watch: SearchWatch;
afterEach(() => watch.stop());

/** Repeats a search that gives the results one after the other, then the last one for ever. */
function watchOf(...results: readonly (readonly Target[] | Error)[]): { lines: string[]; joined: Target[] } {
  const [lines, joined]: [string[], Target[]] = [[], []];
  let repeats = 0;
  const search: TargetSearch = {
    name: 'http-sd:http://sd/',
    found: pages(1),
    again: () => {
      const result = results[Math.min(repeats++, results.length - 1)] ?? [];
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
  };
  watch = new SearchWatch([search], ['http://127.0.0.1:1/metrics'], {
    collector: { join: (targets) => void joined.push(...targets) },
    now_ns: () => repeats * 1e9,
    report: (line) => void lines.push(line),
    repeatSeconds: 0.001,
  });
  watch.start();
  return { lines, joined };
}

test('a page that returns is read already', async () => {
  const { joined } = watchOf(pages(1, 2), pages(1), pages(1, 2));
  await until(() => watch.changes.length === 3);
  expect(watch.changes).toEqual([
    { at_ns: 1e9, target: 'http://127.0.0.1:2/metrics', change: 'joined' },
    { at_ns: 2e9, target: 'http://127.0.0.1:2/metrics', change: 'left' },
    { at_ns: 3e9, target: 'http://127.0.0.1:2/metrics', change: 'joined' },
  ]);
  expect(joined.map(({ url }) => url)).toEqual(['http://127.0.0.1:2/metrics']);
  expect(watch.leftAt_ns('http://127.0.0.1:2/metrics')).toBeNull();
});

test('a search that fails is reported once, and its pages have not left', async () => {
  const failure = new Error('the API answered with HTTP 503');
  const { lines } = watchOf(failure, failure, pages(1), []);
  await until(() => watch.changes.length === 1);
  expect(watch.leftAt_ns('http://127.0.0.1:1/metrics')).toBe(4e9);
  expect(lines).toEqual([
    expect.stringMatching(/^the API answered with HTTP 503; .* the search is repeated$/),
    'http-sd:http://sd/ responds again',
    'http://127.0.0.1:1/metrics left: no longer found by http-sd:http://sd/',
  ]);
});

test('the end does not wait for a search under way, and what that finds is not used', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly Target[]>();
  let repeats = 0;
  const again = (): Promise<readonly Target[]> => {
    repeats += 1;
    return promise;
  };
  const joined: Target[] = [];
  watch = new SearchWatch([{ name: 'k8s:ns/app=x', found: pages(1), again }], [], {
    collector: { join: (targets) => void joined.push(...targets) },
    now_ns: () => 0,
    report: () => undefined,
    repeatSeconds: 0.001,
  });
  watch.start();
  await until(() => repeats === 1);
  watch.stop();
  resolve(pages(1, 2));
  await pause(10);
  expect([joined, watch.changes, repeats]).toEqual([[], [], 1]);
});
