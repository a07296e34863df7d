import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { request } from 'undici';
import { runFile } from '../publish/fixtures/run.ts';
import { createLiveMetrics } from '../publish/live-metrics.ts';
import { problemHandler } from './problem.ts';
import type { Listening } from './listen.ts';
import { listen } from './listen.ts';
import { metricsRoute } from './service-routes.ts';
import { createRunApp } from './run-app.ts';

let server: Listening;
const scrapes: string[] = [];
const problems: string[] = [];
const live = createLiveMetrics({ run: runFile(), version: '0.1.0' });
let broken: Error | null = null;

beforeAll(async () => {
  const app = createRunApp({
    hostCheck: () => null,
    live: {
      render: (accept) => (broken === null ? live.render(accept) : Promise.reject(broken)),
    },
    runs: () => [{ runId: '<r1>', scenario: 'chat & more' }],
    version: '0.1.0',
    scraped: (remoteAddress) => scrapes.push(remoteAddress),
    problem: (line) => problems.push(line),
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());
beforeEach(() => {
  broken = null;
  scrapes.length = 0;
  problems.length = 0;
});

const get = (path: string, headers: Record<string, string> = {}) => request(`${server.url}${path}`, { headers });

describe('GET /metrics of a run', () => {
  test('text 0.0.4 by default', async () => {
    const { statusCode, headers, body } = await get('/metrics');
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['vary']).toBe('Accept, Accept-Encoding');
    expect(await body.text()).toBe((await live.render(undefined)).body);
  });

  test('OpenMetrics if preferred', async () => {
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
    const { headers, body } = await get('/metrics', { accept });
    expect(headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(await body.text()).toMatch(/# EOF\n$/);
  });

  test('a scraper on this machine gets it as it is: compression would cost the measurement, and save nothing', async () => {
    const { headers, body } = await get('/metrics', { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(await body.text()).toBe((await live.render(undefined)).body);
  });

  test('reports the address of each scraper; a HEAD is not a scrape', async () => {
    await (await get('/metrics')).body.dump();
    await (await request(`${server.url}/metrics`, { method: 'HEAD' })).body.dump();
    await (await get('/metrics', { 'accept-encoding': 'gzip' })).body.dump();
    expect(scrapes).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  test('a failed page: 500 in one line without the reason, which is logged; it is not a scrape', async () => {
    broken = new Error('EIO: /somewhere/private');
    const { statusCode, body } = await get('/metrics');
    expect(statusCode).toBe(500);
    expect(await body.text()).toBe('Internal error; see the log of llmbench.\n');
    expect(problems).toEqual(['GET /metrics failed: EIO: /somewhere/private']);
    expect(scrapes).toEqual([]);
  });
});

describe('the other endpoints of a run', () => {
  test.each(['/-/healthy', '/-/ready'])('%s is 200', async (path) => {
    const { statusCode, body } = await get(path);
    expect([statusCode, (await body.text()).split('\n').length]).toEqual([200, 2]);
  });

  test('the landing page is self-contained and escapes its values', async () => {
    const { headers, body } = await get('/');
    const html = await body.text();
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['x-powered-by']).toBeUndefined();
    expect(html).toContain('Run &lt;r1&gt; of scenario chat &amp; more.');
    expect(html).not.toMatch(/https?:|<script|<r1>/);
    const paths = [...html.matchAll(/href="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(paths).toContain('metrics');
    for (const path of paths) {
      const response = await get(`/${path}`);
      expect([path, response.statusCode]).toEqual([path, 200]);
      await response.body.dump();
    }
  });

  test.each(['/nothing', '/sd', '/metrics/x', '/%E0%A4%A'])('%s is 404 in one line', async (path) => {
    const { statusCode, headers, body } = await get(path);
    expect(statusCode).toBe(404);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(await body.text()).toMatch(/^[^\n<]+\n$/);
  });
});

describe('GET /metrics from elsewhere', () => {
  let remote: Listening;
  beforeAll(async () => {
    remote = await listen(express().get('/', metricsRoute(live)), { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => remote.close());

  test.each([
    ['gzip', true],
    ['gzip, deflate', true],
    ['gzip;q=0.5', true],
    ['*', true],
    ['identity', false],
    ['deflate', false],
    ['gzip;q=0', false],
    ['identity, gzip;q=0', false],
    ['*;q=0', false],
    ['', false],
  ])('Accept-Encoding %s: compressed is %s', async (encoding, compressed) => {
    const { headers, body } = await request(remote.url, { headers: { 'accept-encoding': encoding } });
    const bytes = Buffer.from(await body.arrayBuffer());
    expect(headers['content-encoding']).toBe(compressed ? 'gzip' : undefined);
    expect((compressed ? gunzipSync(bytes) : bytes).toString()).toBe((await live.render(undefined)).body);
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  describe('a page that is kept', () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => Buffer.from(`x{run="${i}"} ${i}\n`));
    const whole = Buffer.concat([Buffer.from('x_before 1\n'), ...lines]);
    const problems: string[] = [];
    let large: Listening;
    beforeAll(async () => {
      const app = express().get(
        '/',
        metricsRoute({ render: async () => ({ contentType: 'text/plain', body: lines, before: 'x_before 1\n' }) }),
      );
      app.use(problemHandler((line) => problems.push(line), 'text'));
      large = await listen(app, { host: '127.0.0.1', port: 0 });
    });
    afterAll(() => large.close());

    test.each(['gzip', 'identity'])('is complete and says its length, Accept-Encoding %s', async (encoding) => {
      for (let scrape = 0; scrape < 2; scrape++) {
        const { headers, body } = await request(large.url, { headers: { 'accept-encoding': encoding } });
        const bytes = Buffer.from(await body.arrayBuffer());
        expect(headers['content-length']).toBe(String(bytes.length));
        expect((encoding === 'gzip' ? gunzipSync(bytes) : bytes).equals(whole)).toBe(true);
      }
    });

    test('a HEAD has the same length and no body', async () => {
      const { headers, body } = await request(large.url, { method: 'HEAD' });
      expect([headers['content-length'], await body.text()]).toEqual([String(whole.length), '']);
    });

    test('a scraper that leaves in the middle is no problem', async () => {
      const { body } = await request(large.url);
      for await (const block of body) if (Buffer.isBuffer(block)) break;
      expect((await (await request(large.url)).body.arrayBuffer()).byteLength).toBe(whole.length);
      expect(problems).toEqual([]);
    });
  });
});
