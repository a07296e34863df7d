import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { OPEN_ACCESS } from '../servers/scrape/targets.ts';
import { fetchLivePage } from './live-page.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const fixture = (name: string): Buffer => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));

const answer =
  (contentType: string, body: string | Buffer, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': contentType }).end(body);

const metrics = (origin: string): URL => new URL('/metrics', origin);

test('a page of metrics with any content type', async () => {
  for (const type of ['text/plain; version=1.0.0; charset=utf-8', 'text/plain', 'application/octet-stream']) {
    const { page, remarks, url } = await fetchLivePage(metrics(await serve(answer(type, fixture('vllm.txt')))));
    expect(page.family('vllm:num_requests_running')?.type).toBe('gauge');
    expect(remarks).toEqual([]);
    expect(url).toMatch(/\/metrics$/);
  }
});

describe("TensorRT-LLM's JSON", () => {
  const rows = fixture('trtllm-iteration-stats.json');

  test('is named, with what the reading took, and the Prometheus page is read', async () => {
    const origin = await serve((request, response) =>
      request.url === '/metrics'
        ? answer('application/json', rows)(request, response)
        : answer(
            'text/plain; version=0.0.4',
            fixture('trtllm.txt'),
            request.url === '/prometheus/metrics' ? 200 : 404,
          )(request, response),
    );
    const { page, url, remarks } = await fetchLivePage(metrics(origin));
    expect(url).toBe(`${origin}/prometheus/metrics`);
    expect(page.families).toHaveLength(65);
    expect(remarks).toEqual([expect.stringMatching(/iteration statistics in JSON.* this one took 3; read instead/)]);
  });

  test.each([
    ['rows', rows],
    ['no new rows', '[]'],
  ])('%s without a Prometheus page reports the switch that enables it', async (_case, body) => {
    const origin = await serve((request, response) =>
      request.url === '/metrics'
        ? answer('application/json', body)(request, response)
        : answer('application/json', '{"detail":"Not Found"}', 404)(request, response),
    );
    await expect(fetchLivePage(metrics(origin))).rejects.toThrow(
      /iteration statistics in JSON.*Its Prometheus page is not available either: .*HTTP 404.*return_perf_metrics: true/,
    );
  });
});

describe('no page: one line that describes the response', () => {
  test.each<[string, RequestListener, RegExp]>([
    [
      '404, with the switches that make a page',
      answer('text/plain', 'no', 404),
      /: HTTP 404; .*SGLang requires --enable-metrics/,
    ],
    ['500', answer('text/plain', 'no', 500), /: HTTP 500$/],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/x' }).end(), /: HTTP 302$/],
    ['HTML', answer('text/html', '<!doctype html><p>hello</p>'), /the response is HTML, not metrics$/],
    [
      'HTML with the content type of text',
      answer('text/plain', '\n<html></html>'),
      /the response is HTML, not metrics$/,
    ],
    [
      'JSON of another kind',
      answer('application/json', '{"object":"list"}'),
      /the response is JSON that is not metrics$/,
    ],
    [
      'JSON with the content type of text',
      answer('text/plain', '[{"a": 1}]'),
      /the response is JSON that is not metrics$/,
    ],
    ['prose', answer('text/plain', 'all is well\n'), /cannot be parsed as metrics: line 1, column/],
    ['nothing', answer('text/plain', ''), /holds no metrics$/],
    [
      'a page cut short',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' });
        response.write('a 1\n', () => response.destroy());
      },
      /the page was cut off$/,
    ],
  ])('%s', async (_case, listener, message) => {
    const failure = await fetchLivePage(metrics(await serve(listener))).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'failed' });
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('\n');
  });

  test('connection refused', async () => {
    const origin = await serve(answer('text/plain', ''));
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await expect(fetchLivePage(metrics(origin))).rejects.toThrow(/the connection was refused$/);
  });

  const limits = { connectTimeoutSeconds: 5, readTimeoutSeconds: 30, totalTimeoutSeconds: 30, maxBytes: 1000 };

  test('a body without an end is given up at the limit', async () => {
    const origin = await serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('a_metric 1\n'.repeat(1000)));
      };
      response.on('drain', more).on('error', () => undefined);
      response.writeHead(200, { 'content-type': 'text/plain' });
      more();
    });
    await expect(fetchLivePage(metrics(origin), OPEN_ACCESS, limits)).rejects.toThrow(/the page is larger than/);
  });

  test('a page that never comes is given up in time', async () => {
    const origin = await serve((_, response) => void response.writeHead(200).write('a 1\n'));
    const short = { ...limits, totalTimeoutSeconds: 0.2 };
    await expect(fetchLivePage(metrics(origin), OPEN_ACCESS, short)).rejects.toThrow(/not complete after 0\.2 s$/);
  });

  test('user info and query stay out of messages', async () => {
    const url = new URL(`${await serve(answer('text/html', '<p>'))}/metrics?key=secret1`);
    url.username = 'user';
    url.password = 'secret2';
    const failure = await fetchLivePage(url).catch((error: unknown) => error as Error);
    expect((failure as Error).message).not.toMatch(/secret|user/);
  });
});
