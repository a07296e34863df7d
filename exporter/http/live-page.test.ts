import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LivePage } from './live-page.ts';

let page: LivePage;
let port: number;

beforeEach(async () => {
  const live = { render: async () => ({ contentType: 'text/plain', body: 'x 1\n' }) };
  page = await LivePage.open(live, {
    ...{ runId: 'r', scenario: 's', runsDirectory: tmpdir(), version: '0', host: '127.0.0.1', port: 0 },
    ...{ allowedHosts: ['bench.example.org'], lingerMaxSeconds: 0, say: () => undefined },
  });
  port = Number(new URL(page.metricsUrl).port);
});

afterEach(() => page.close());

async function statusOf(requestLine: string, ...headers: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write([requestLine, ...headers, 'Connection: close', '', ''].join('\r\n'));
  return (await text(socket)).split(' ')[1] ?? '';
}

test('a run reports once that it waits for its scrapers, and does not wait if nothing scraped it', async () => {
  const said: string[] = [];
  const live = { render: async () => ({ contentType: 'text/plain', body: 'x 1\n' }) };
  const open = () =>
    LivePage.open(live, {
      ...{ runId: 'r', scenario: 's', runsDirectory: tmpdir(), version: '0', host: '127.0.0.1', port: 0 },
      ...{ allowedHosts: [], lingerMaxSeconds: null, say: (line: string) => void said.push(line) },
    });
  const ending = { hurried: false, givenUp: new AbortController().signal };
  const scraped = await open();
  const scrape = () => fetch(scraped.metricsUrl).then((response) => response.text());
  await scrape();
  const finished = scraped.finish(ending);
  await scrape();
  await scrape();
  await finished;
  await scraped.close();
  expect(said).toEqual([expect.stringMatching(/^waiting until scrapers have fetched the final values, at most 180 s/)]);
  const lonely = await open();
  await lonely.finish(ending);
  await lonely.close();
  expect(said.slice(1)).toEqual([expect.stringMatching(/^nothing scraped/)]);
});

test.each<[string, string, readonly string[], string]>([
  ['its own address', 'GET /metrics HTTP/1.1', ['Host: 127.0.0.1:1'], '200'],
  ['an allowed name', 'GET /metrics HTTP/1.1', ['Host: bench.example.org'], '200'],
  ['another name', 'GET /metrics HTTP/1.1', ['Host: evil.example'], '403'],
  ['another name after its own', 'GET /metrics HTTP/1.1', ['Host: localhost', 'Host: evil.example'], '403'],
  ['an absolute URL of another name', 'GET http://evil.example/metrics HTTP/1.1', ['Host: localhost'], '403'],
  ['a page of another origin', 'GET /metrics HTTP/1.1', ['Host: localhost', 'Origin: http://evil.example'], '403'],
])('a request with %s', async (_what, requestLine, headers, status) => {
  expect(await statusOf(requestLine, ...headers)).toBe(status);
});
