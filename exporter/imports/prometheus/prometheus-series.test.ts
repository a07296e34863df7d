import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, describe } from '@jest/globals';
import fc from 'fast-check';
import { targetResult } from '../../servers/collection.ts';
import { OPEN_ACCESS } from '../../servers/scrape/targets.ts';
import { ImportNotes } from '../import-notes.ts';
import { collectionOf, recordedTargets, serverMeasures, within } from './import-window.ts';
import { CUSTOM_BUCKETS_SCHEMA, exponentialBound } from '../../../core/histogram/native-histogram.ts';
import { recordedHistogram } from './prometheus-series.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A response that a server gave, see fixtures/README.md. */
const captured = (name: string): string => readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8');

/** A server of the query API; `seconds`: how long the range is. */
async function api(respond: (response: ServerResponse, seconds: number, to: number) => void): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname.endsWith('/metadata')) return void response.end('{"status":"success","data":{}}');
    const milliseconds = Number(/\[(\d+)ms\]$/.exec(searchParams.get('query') ?? '')?.[1]);
    respond(response, milliseconds / 1000, Number(searchParams.get('time')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FROM = 1_795_822_840;

const failed = (errorType: string, error: string): string => JSON.stringify({ status: 'error', errorType, error });
/** As Prometheus 3.5.3, Cortex 1.21.1 and VictoriaMetrics 1.151.0 answer. */
const TOO_MANY = failed('execution', 'query processing would load too many samples into memory in query execution');
const TOO_LONG = failed('bad_data', 'the query time range exceeds the limit (query length: 10m0s, limit: 3m0s)');
const TOO_MANY_BLOCKS = failed(
  '422',
  'error when exporting data for query="{job=\\"vllm\\"}" on the time range (start=1795822416001, end=1795823016000): ' +
    'cannot fetch data for "accountID=0, projectID=0, filters=[{job=\\"vllm\\"}], ' +
    'timeRange=[2026-11-27T23:33:36.001Z..2026-11-27T23:43:36Z]": cannot select more than -search.maxSamplesPerQuery=20000 ' +
    'samples; possible solutions: increase the -search.maxSamplesPerQuery; reduce time range for the query; use more specific ' +
    'label filters in order to select fewer series',
);
const BAD_SELECTOR = failed(
  'bad_data',
  'invalid parameter "query": 1:6: parse error: unexpected "}" in label matching, expected string',
);

const windowOf = (seconds: number) => ({ from: new Date(FROM * 1000), to: new Date((FROM + seconds) * 1000) });

const targetsOf = (url: string, seconds: number) =>
  recordedTargets(
    {
      ...{ url, access: OPEN_ACCESS, selector: '{job="vllm"}', signal: new AbortController().signal },
      ...windowOf(seconds),
    },
    new ImportNotes(),
  );

async function read(url: string, seconds = 60) {
  return (await targetsOf(url, seconds)).map(({ store, recorded }) => ({
    families: [...new Set(store.series.map(({ family }) => family.name))],
    times: Array.from({ length: store.scrapes }, (_, i) => FROM + store.at_ns(i) / 1e9),
    ...recorded,
  }));
}

const respondWith =
  (status: number, body: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end(body);

test.each([
  [422, TOO_MANY],
  [400, TOO_LONG],
])('a query that passes a limit of the server (%d) is made in shorter ones', async (status, body) => {
  const lengths: number[] = [];
  const url = await api((response, seconds, to) => {
    if (seconds > 100) return respondWith(status, body)(response);
    lengths.push(seconds);
    const values = Array.from({ length: seconds }, (_, i) => [to - i, '1']).reverse();
    const result = [{ metric: { __name__: 'up', job: 'vllm', instance: 'a:1' }, values }];
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }));
  });
  const [target] = await read(url, 300);
  expect(lengths).toEqual(Array.from({ length: 8 }, () => 75));
  // From 300 s before the window.
  expect(target?.times).toEqual(Array.from({ length: 600 }, (_, i) => FROM - 300 + i + 1));
});

test.each([
  [422, TOO_MANY, 'HTTP 422: query processing would load too many samples into memory in query execution'],
  [422, TOO_MANY_BLOCKS, /^HTTP 422: ….*-search\.maxSamplesPerQuery=20000 samples; possible solutions: /],
  [401, 'no org id\n', 'HTTP 401: no org id'],
  [502, '<html><h1>Bad Gateway</h1></html>', 'HTTP 502'],
  [400, BAD_SELECTOR, 'HTTP 400: it does not accept the selector {job="vllm"}: invalid parameter'],
])('a response %d is one line with the reason of the server', async (status, body, message) => {
  const url = await api(respondWith(status, body));
  const refusal = await read(url).then(
    () => 'none',
    (error: Error) => error.message,
  );
  expect(refusal).not.toContain('\n');
  expect(refusal.replace(`${url}/api/v1/query: `, '')).toMatch(message);
});

test('a partial response is refused: its sums would be too small', async () => {
  const partial = { status: 'success', data: { result: [] }, warnings: ['No StoreAPIs matched for this query'] };
  for (const body of [partial, { status: 'success', isPartial: true, data: { result: [] } }])
    await expect(read(await api(respondWith(200, JSON.stringify(body))))).rejects.toThrow(/^the response is partial/);
});

test('a scrape that was stored in part is left out where `up` does not show it', async () => {
  const [target] = await read(await api(respondWith(200, captured('victoria-metrics-torn-scrape'))));
  expect(target?.times).toHaveLength(6);
  expect(target?.times).not.toContain(1_795_822_849.56);
});

test('a target that two recorders scraped is refused with what to match', async () => {
  const url = await api(respondWith(200, captured('victoria-metrics-two-replicas')));
  await expect(read(url)).rejects.toThrow(
    '127.0.0.1:24001 was recorded twice at the same time: add one of replica="a", replica="b" to the selector',
  );
});

test('without metadata of the server, creation times are no counters', async () => {
  const [target] = await read(await api(respondWith(200, captured('thanos-receive-without-metadata'))), 1200);
  expect(target?.families).toEqual(['vllm:prompt_tokens_total']);
});

/** The response with the counts of requests of each server, one a second. */
const countsOf = (servers: Readonly<Record<string, readonly number[]>>): string => {
  const result = Object.entries(servers).map(([instance, counts]) => ({
    metric: { __name__: 'vllm:request_success_total', job: 'vllm', instance },
    values: counts.map((count, i) => [FROM + i, String(count)]),
  }));
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
};

test.each([
  ['grow', [1000, 1010, 1020, 1030, 1040, 1050], 2 * 50],
  ['alternate between those of two processes', [1000, 50, 1010, 60, 1020, 70], null],
])('rates are of all servers, or unknown: the counts of one %s', async (_, values, increase) => {
  const url = await api(respondWith(200, countsOf({ 'a:1': [0, 10, 20, 30, 40, 50], 'b:1': values })));
  const { from, to } = windowOf(10);
  const measures = serverMeasures(collectionOf(await targetsOf(url, 10), from, to), 'vllm');
  const throughput = measures.find(({ measure }) => measure === 'request_throughput');
  expect(throughput?.kind === 'scalar' ? throughput.value : null).toBe(increase === null ? null : increase / 10);
});

test('the pages of llmbench are no servers', async () => {
  const body = JSON.parse(countsOf({ 'a:1': [0, 10, 20] })) as { data: { result: object[] } };
  const page = { job: 'llmbench', instance: 'b:9469', model_name: 'm' };
  const ofPage = ['llmbench_server_requests_finished_total', 'process_cpu_seconds_total'].map((__name__) => ({
    metric: { __name__, ...page },
    values: [
      [FROM, '1'],
      [FROM + 1, '2'],
    ],
  }));
  body.data.result.push(...ofPage);
  const targets = await targetsOf(await api(respondWith(200, JSON.stringify(body))), 3);
  expect(targets.map(({ name }) => name)).toEqual(['http://a:1/metrics']);
});

test('a restart is in the slice in which it was', async () => {
  const counts = [0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51];
  const targets = await targetsOf(await api(respondWith(200, countsOf({ 'a:1': counts }))), 12);
  const { from, to } = windowOf(12);
  const whole = collectionOf(targets, from, to);
  const restarts = [0, 4, 8].map((second) => {
    const slice = within(whole, second * 1e9, (second + 4) * 1e9);
    return slice.targets.map((target) => targetResult(slice, target).restarts);
  });
  expect(restarts).toEqual([[0], [1], [0]]);
});

/** A process that starts anew at second 6, where a series is absent until its first request at second 9. */
test.each([
  // 40 and 40 before the restart, 6 and 6 after it.
  ['all of it', 0, 12, 92],
  ['the restart and not yet a request', 4, 8, 0],
  ['the requests of the new process', 8, 12, 12],
])('a series that a restart removed counts from 0 in a slice with %s', async (_, from_s, to_s, requests) => {
  const own = { job: 'vllm', instance: 'a:1' };
  const series = (labels: object, values: readonly (number | null)[]) => ({
    metric: { ...own, ...labels },
    values: values.flatMap((value, i) => (value === null ? [] : [[FROM + i, String(value)]])),
  });
  const total = { __name__: 'vllm:request_success_total' };
  const counted = [100, 110, 120, 130, 140];
  const result = [
    series({ __name__: 'up' }, [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]),
    series({ __name__: 'process_start_time_seconds' }, [5, 5, 5, 5, 5, null, 99, 99, 99, 99, 99, 99, 99]),
    series({ ...total, finished_reason: 'length' }, [...counted, null, null, null, null, 3, 4, 5, 6]),
    series({ ...total, finished_reason: 'stop' }, [...counted, null, 0, 0, 0, 3, 4, 5, 6]),
  ];
  const body = JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
  const targets = await targetsOf(await api(respondWith(200, body)), 12);
  const { from, to } = windowOf(12);
  const slice = within(collectionOf(targets, from, to), from_s * 1e9, to_s * 1e9);
  const throughput = serverMeasures(slice, 'vllm').find(({ measure }) => measure === 'request_throughput');
  expect(throughput?.kind === 'scalar' ? (throughput.value ?? NaN) * (to_s - from_s) : null).toBeCloseTo(requests, 9);
});

const text = (bound: number): string => (bound === Infinity ? '+Inf' : bound === -Infinity ? '-Inf' : String(bound));

describe('a native histogram of the query API', () => {
  test('has the schema, the places and the zero bucket that its buckets show', () => {
    // As Prometheus 2.42 writes it: [rule, low, high, count].
    const value = {
      count: '8',
      sum: '12.5',
      buckets: [
        [1, '-2', '-1.414213562373095', '1'],
        [3, '-0.001', '0.001', '2'],
        [0, '0.7071067811865475', '1', '3'],
        [0, '2', '2.82842712474619', '2'],
      ],
    };
    expect(recordedHistogram(value)).toEqual({
      ...{ schema: 1, count: 8, sum: 12.5, zeroThreshold: 0.001, zeroCount: 2, customBounds: null },
      negative: [{ index: 2, low: -2, high: -1.414213562373095, count: 1 }],
      positive: [
        { index: 0, low: 0.7071067811865475, high: 1, count: 3 },
        { index: 3, low: 2, high: 2.82842712474619, count: 2 },
      ],
    });
  });

  test('finds the place of each bucket of each schema', () => {
    const schemas = fc.integer({ min: -4, max: 8 });
    fc.assert(
      fc.property(schemas, fc.uniqueArray(fc.integer({ min: -60, max: 60 }), { minLength: 1 }), (schema, indexes) => {
        const places = indexes.filter((index) => Math.abs(index) < 60 * 2 ** Math.min(0, schema)).sort((a, b) => a - b);
        const ends = (index: number): readonly string[] =>
          [index - 1, index].map((each) => text(exponentialBound(each, schema)));
        const buckets = places.map((index) => [0, ...ends(index), '1']);
        const found = recordedHistogram({ count: String(places.length), sum: '1', buckets });
        if (places.length > 0) expect(found?.schema).toBe(schema);
        expect(found?.positive.map(({ index }) => index)).toEqual(places);
      }),
    );
  });

  test('of custom buckets has the known bounds', () => {
    const buckets = [
      [0, '-Inf', '0.005', '2'],
      [0, '0.02', '0.04', '3'],
      [0, '0.1', '+Inf', '1'],
    ];
    expect(recordedHistogram({ count: '6', sum: '1', buckets })).toMatchObject({
      ...{ schema: CUSTOM_BUCKETS_SCHEMA, customBounds: [0.005, 0.02, 0.04, 0.1] },
      positive: [
        { index: 0, high: 0.005, count: 2 },
        { index: 2, high: 0.04, count: 3 },
        { index: 4, high: Infinity, count: 1 },
      ],
    });
  });

  test('whose first bucket begins at the zero bucket has the schema of the others', () => {
    const buckets = [
      [3, '-0.3', '0.3', '1'],
      [0, '0.3', '0.5', '1'],
      [0, '0.5', '1', '1'],
    ];
    expect(recordedHistogram({ count: '3', sum: '1', buckets })).toMatchObject({
      schema: 0,
      positive: [{ index: -1 }, { index: 0 }],
    });
  });

  test('without observations, or with the last bucket of numbers, is read', () => {
    expect(recordedHistogram({ count: '0', sum: '0' })).toMatchObject({ count: 0, positive: [], negative: [] });
    const huge = [[0, '1.7976931348623157e+308', '+Inf', '1']];
    expect(recordedHistogram({ count: '1', sum: '+Inf', buckets: huge })).toMatchObject({ sum: Infinity, count: 1 });
  });

  test.each([
    ['no object', 1],
    ['without a count', { sum: '1' }],
    ['with buckets that are no list', { count: '1', sum: '1', buckets: 'x' }],
    ['with a bucket that is none', { count: '1', sum: '1', buckets: [[0, '1']] }],
    ['with ends of no known rule', { count: '1', sum: '1', buckets: [[2, '0.3', '0.4', '1']] }],
  ])('%s is none', (_, value) => {
    expect(recordedHistogram(value)).toBeNull();
  });
});
