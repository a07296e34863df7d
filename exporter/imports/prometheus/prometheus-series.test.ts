import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { OPEN_ACCESS } from '../../servers/scrape/page-access.ts';
import { ImportNotes } from '../import-notes.ts';
import { recordedTargets } from './import-window.ts';

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
/** As Prometheus 3.5.3 and VictoriaMetrics 1.151.0 answer. */
const TOO_MANY = failed('execution', 'query processing would load too many samples into memory in query execution');
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

async function read(url: string, seconds = 60) {
  const [from, to] = [new Date(FROM * 1000), new Date((FROM + seconds) * 1000)];
  const signal = new AbortController().signal;
  const request = { url, access: OPEN_ACCESS, selector: '{job="vllm"}', from, to, signal };
  return (await recordedTargets(request, new ImportNotes())).map(({ store, recorded }) => ({
    families: [...new Set(store.series.map(({ family }) => family.name))],
    times: Array.from({ length: store.scrapes }, (_, i) => FROM + store.at_ns(i) / 1e9),
    ...recorded,
  }));
}

const respondWith =
  (status: number, body: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end(body);

test('a query that passes a limit of the server is made in shorter ones', async () => {
  const lengths: number[] = [];
  const url = await api((response, seconds, to) => {
    if (seconds > 100) return respondWith(422, TOO_MANY)(response);
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
