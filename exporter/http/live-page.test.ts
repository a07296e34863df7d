import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { selfSignedCertificate, VALID } from '../load/testing/certificate.ts';
import type { RunFamily, ServedPage } from '../publish/served-page.ts';
import { EXAMPLE_END, examplePlan } from '../store/fixtures/example-run.ts';
import { servedRuns } from '../store/recovery/served-runs.ts';
import { openStore } from '../store/run-store.ts';
import { LivePage } from './live-page.ts';
import { servedAlone } from './testing/served-alone.ts';
import { WebConfigFile } from './web-config/web-config.ts';
import { until } from '../../core/testing/until.ts';

let page: ServedPage;
let port: number;

beforeEach(async () => {
  page = await servedAlone(
    { lines: () => Promise.resolve([]) },
    {
      ...{ runId: 'r', scenario: 's', runsDirectory: tmpdir(), version: '0', host: '127.0.0.1', port: 0 },
      ...{ allowedHosts: ['bench.example.org'], lingerMaxSeconds: 0, say: () => undefined },
    },
  );
  port = Number(new URL(page.metricsUrl).port);
});

afterEach(() => page.close?.());

async function statusOf(requestLine: string, ...headers: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write([requestLine, ...headers, 'Connection: close', '', ''].join('\r\n'));
  return (await text(socket)).split(' ')[1] ?? '';
}

describe('the runs of one command', () => {
  const ending = { hurried: false, givenUp: new AbortController().signal };
  const source = (name: string, ofProcess = 'p 1\n') => {
    const lines = (name: string, text: string, isOfProcess: boolean): RunFamily => ({
      ...{ name, help: '', type: 'gauge', lines: Buffer.from(text), series: 1, ofProcess: isOfProcess },
    });
    return {
      lines: () => Promise.resolve([lines('p', ofProcess, true), lines('x', `x{run_id="${name}"} 1\n`, false)]),
    };
  };
  let said: string[];
  let page: LivePage;
  beforeEach(() => {
    said = [];
    page = new LivePage();
  });
  afterEach(() => page.close());

  const options = (runId: string) => ({
    ...{ runId, scenario: 's', runsDirectory: tmpdir(), version: '0', host: '127.0.0.1', port: 0 },
    ...{ allowedHosts: [], lingerMaxSeconds: null, say: (line: string) => void said.push(line) },
  });
  const add = (runId: string) => page.serve(source(runId), options(runId));
  const scrape = (url: string) => fetch(url).then((response) => response.text());

  test('it is said once that the command waits for scrapers', async () => {
    const run = await add('r');
    await scrape(run.metricsUrl);
    run.end?.(false);
    const departure = run.depart?.(ending);
    page.waiting();
    // A run whose scrapers already have the final values does not wait.
    await until(() => said.length !== 0);
    await scrape(run.metricsUrl);
    await scrape(run.metricsUrl);
    expect(await departure).toEqual([]);
    expect(said).toEqual([
      expect.stringMatching(/^waiting until scrapers have fetched the final values, at most 180 s; --linger no/),
    ]);
  });

  test('nothing scraped: no wait, and a line with the remedy', async () => {
    const run = await add('r');
    run.end?.(false);
    page.waiting();
    expect(await run.depart?.(ending)).toEqual([expect.stringMatching(/^nothing scraped/)]);
    expect(said).toEqual([]);
  });

  test('a run that has ended stays on the page beside the next one until it was fetched twice', async () => {
    const first = await add('r1');
    await scrape(first.metricsUrl);
    first.end?.(false);
    const departure = first.depart?.(ending);
    const second = await add('r2');
    expect(second.metricsUrl).toBe(first.metricsUrl);
    const both = await scrape(first.metricsUrl);
    expect(both).toBe('# TYPE x gauge\nx{run_id="r1"} 1\nx{run_id="r2"} 1\n# TYPE p gauge\np 1\n');
    await scrape(first.metricsUrl);
    expect(await departure).toEqual([]);
    expect(await scrape(first.metricsUrl)).toBe('# TYPE p gauge\np 1\n# TYPE x gauge\nx{run_id="r2"} 1\n');
    expect(said).toEqual([]);
  });

  describe('before its load', () => {
    const given = new AbortController().signal;

    test('a run waits until one scraper has come as often as wanted', async () => {
      const run = await add('r');
      const twice = run.scraped(2, 60, given);
      await scrape(run.metricsUrl);
      await expect(Promise.race([twice, sleep(50, 'waiting')])).resolves.toBe('waiting');
      await scrape(run.metricsUrl);
      expect(await twice).toBe(true);
    });

    test('when nothing comes within the limit, the runs after it do not wait', async () => {
      expect(await (await add('r1')).scraped(1, 0.05, given)).toBe(false);
      const begin = performance.now();
      expect(await (await add('r2')).scraped(1, 60, given)).toBe(false);
      expect(performance.now() - begin).toBeLessThan(30_000);
    });

    test('the second run of a command waits for a scrape of its own', async () => {
      const first = await add('r1');
      const waiting = first.scraped(1, 60, given);
      await scrape(first.metricsUrl);
      expect(await waiting).toBe(true);
      const second = (await add('r2')).scraped(1, 60, given);
      await expect(Promise.race([second, sleep(50, 'waiting')])).resolves.toBe('waiting');
      await scrape(first.metricsUrl);
      expect(await second).toBe(true);
    });

    test('a run that the user ends does not wait', async () => {
      const run = await add('r');
      const ending = new AbortController();
      const waiting = run.scraped(1, 60, ending.signal);
      ending.abort();
      expect(await waiting).toBe(false);
    });
  });

  test('the port closes with the last run, so that no scrape finds a page without it', async () => {
    const run = await add('r');
    await scrape(run.metricsUrl);
    run.end?.(false);
    const departure = run.depart?.(ending);
    page.waiting();
    await scrape(run.metricsUrl);
    await scrape(run.metricsUrl);
    await departure;
    await expect(scrape(run.metricsUrl)).rejects.toThrow('fetch failed');
  });

  test('a run that is published while it waits stays in the discovery until it has left the page', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'llmbench-live-'));
    try {
      const { store } = await openStore(directory);
      const writer = await store.begin(examplePlan({ run_id: 'r' }));
      const run = await page.serve(source('r'), { ...options('r'), runsDirectory: directory });
      await writer.update({ metrics_url: run.metricsUrl });
      await scrape(run.metricsUrl);
      run.end?.(false);
      await writer.complete(EXAMPLE_END);
      expect(await run.finish?.(ending)).toEqual([]);
      await writer.publish();
      page.waiting();
      const departure = run.depart?.(ending);
      expect((await store.readRun('r')).status).toBe('completed');
      expect((await servedRuns(directory)).map(({ process }) => process?.metrics_url)).toEqual([run.metricsUrl]);
      await scrape(run.metricsUrl);
      await scrape(run.metricsUrl);
      expect(await departure).toEqual([]);
      expect(await servedRuns(directory)).toEqual([]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('between two runs the one before stays on the page, so that it is not lost to the discovery', async () => {
    const first = await add('r1');
    await scrape(first.metricsUrl);
    first.begin?.();
    first.end?.(false);
    const departure = first.depart?.(ending);
    await scrape(first.metricsUrl);
    await scrape(first.metricsUrl);
    await departure;
    expect(await scrape(first.metricsUrl)).toContain('x{run_id="r1"} 1\n');
    const second = await add('r2');
    expect(await scrape(first.metricsUrl)).toContain('x{run_id="r1"} 1\n');
    second.begin?.();
    expect(await scrape(first.metricsUrl)).not.toContain('r1');
  });

  test('a short second run is waited for by the scrapers of the first', async () => {
    const first = await add('r1');
    await scrape(first.metricsUrl);
    const second = await add('r2');
    second.end?.(false);
    page.waiting();
    const departure = second.depart?.(ending);
    await scrape(first.metricsUrl);
    await scrape(first.metricsUrl);
    expect(await departure).toEqual([]);
  });
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

test('with a web configuration file the page is served over HTTPS to its users', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-live-'));
  const { cert, key } = selfSignedCertificate(VALID);
  await writeFile(join(folder, 'server.crt'), cert);
  await writeFile(join(folder, 'server.key'), key);
  // The hash of `test` in Prometheus' guide to basic authentication.
  const users = "{prometheus: '$2b$04$bmjsd2AZignz315k/Seize7qa4PIsN6q/OzKSzS773MTnRgkIvFgq'}";
  const file = join(folder, 'web.yml');
  await writeFile(
    file,
    `tls_server_config: {cert_file: server.crt, key_file: server.key}\nbasic_auth_users: ${users}\n`,
  );
  const secured = new LivePage(new WebConfigFile(file, () => undefined));
  const agent = new Agent({ connect: { ca: cert, servername: 'localhost' } });
  try {
    const { metricsUrl } = await secured.serve(
      { lines: () => Promise.resolve([]) },
      {
        ...{ runId: 'r', scenario: 's', runsDirectory: tmpdir(), version: '0', host: '127.0.0.1', port: 0 },
        ...{ allowedHosts: [], lingerMaxSeconds: 0, say: () => undefined },
      },
    );
    const statusWith = async (headers: Record<string, string>): Promise<number> => {
      const { statusCode, body } = await request(metricsUrl, { headers, dispatcher: agent });
      await body.dump();
      return statusCode;
    };
    expect(metricsUrl).toMatch(/^https:/);
    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: `Basic ${btoa('prometheus:test')}` })).toBe(200);
    await expect(request(metricsUrl.replace('https:', 'http:'))).rejects.toThrow();
  } finally {
    await secured.close();
    await agent.close();
    await rm(folder, { recursive: true });
  }
});
