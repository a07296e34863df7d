import { afterEach, expect, test } from '@jest/globals';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFile } from '../../core/run/run.ts';
import { startSimulator, type SimulatorOptions } from '../../simulator/main.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { metricsServer } from '../servers/testing/metrics-server.ts';
import { performRun, type PerformedRun } from './perform-run.ts';
import type { RunRequest } from './run-request.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };

async function simulated(options: SimulatorOptions) {
  const simulator = await startSimulator({ model: 'm', engine, ...options });
  cleanUp.push(() => simulator.close());
  return simulator;
}

interface Collected {
  readonly performed: PerformedRun;
  readonly lines: readonly string[];
  /** run.json before the first request, from which Prometheus is reported what to scrape. */
  readonly asListed: RunFile | null;
  readonly runFile: RunFile;
  readonly seconds: number;
}

async function run(url: string, argv: readonly string[]): Promise<Collected> {
  const folder = await mkdtemp(join(tmpdir(), 'llmbench-collected-run-'));
  cleanUp.push(() => rm(folder, { recursive: true }));
  const plain = ['--url', url, '--model', 'm', '--runs-dir', folder, '--linger', 'no', '--isl', '5', '--osl', '4'];
  const [request] = runRequests(readOptions(RUN_OPTIONS, [...plain, ...argv], {}));
  const lines: string[] = [];
  let asListed: RunFile | null = null;
  const host = {
    servePage: servedAlone,
    say: (line: string): unknown => lines.push(line),
    observe: () => {
      const unfinished = join(folder, '.unfinished');
      const [runId = ''] = readdirSync(unfinished);
      asListed = JSON.parse(readFileSync(join(unfinished, runId, 'run.json'), 'utf8')) as RunFile;
      return { stop: () => undefined };
    },
  };
  const start = performance.now();
  const performed = await performRun(request as RunRequest, new RunControls(), host, '0.0.0');
  const seconds = (performance.now() - start) / 1000;
  const runFile = JSON.parse(await readFile(join(performed.path, 'run.json'), 'utf8')) as RunFile;
  return { performed, lines, asListed, runFile, seconds };
}

/** Passes everything on to an origin, but for paths that are not there, and notes what was requested. */
async function watched(origin: string, isMissing = (_path: string): boolean => false) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (isMissing(request.url ?? '')) {
      response.writeHead(404).end();
      return;
    }
    const { method = 'GET', headers } = request;
    const passedOn = httpRequest(`${origin}${request.url}`, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
    request.pipe(passedOn);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test('TensorRT-LLM: known before the run, its Prometheus page is listed, its JSON is read once', async () => {
  const { origin, requests } = await watched((await simulated({ system: 'trtllm' })).url);
  const { performed, runFile, asListed } = await run(origin, ['--request-count', '3']);
  expect(performed.result).toMatchObject({ status: 'completed', requests: { ok: 3 }, servers: { exact: true } });
  expect(asListed?.target.system).toBe('trtllm');
  expect(asListed?.process?.server_metrics_urls).toEqual([`${origin}/prometheus/metrics`]);
  expect(runFile.target).toEqual(asListed?.target);
  expect(requests.filter((request) => request === 'GET /metrics')).toHaveLength(1);
  expect(requests.filter((request) => request === 'GET /prometheus/metrics').length).toBeGreaterThan(1);
});

test('Triton behind its OpenAI front end: the page is on a port of its own, named', async () => {
  const { metricsUrl } = await simulated({ system: 'triton' });
  const { url } = await simulated({ system: 'vllm' });
  const front = await watched(url, (path) => path === '/metrics');
  const { runFile, lines } = await run(front.origin, [
    ...['--request-count', '2', '--server-metrics', `triton=${metricsUrl}`],
  ]);
  expect(runFile.target.system).toBe('triton');
  expect(lines.some((line) => line.includes('HTTP 404') && line.includes('triton=127.0.0.1'))).toBe(true);
});

test('without collection, one scrape identifies the system', async () => {
  const { origin, requests } = await watched((await simulated({ system: 'vllm' })).url);
  const { runFile, performed } = await run(origin, ['--request-count', '2', '--no-server-metrics']);
  expect(runFile.target.system).toBe('vllm');
  expect(performed.result.servers).toBeNull();
  expect(requests.filter((request) => request === 'GET /metrics')).toHaveLength(1);
});

test('a page that does not respond is awaited once, and reported once', async () => {
  const silent = await metricsServer(() => undefined);
  cleanUp.push(() => silent.close());
  const { url } = await simulated({ system: 'vllm' });
  const { lines, seconds, performed } = await run(url, ['--request-count', '2', '--server-metrics', silent.origin]);
  const { servers } = performed.result;
  // Waited for at each edge it would be 6 s and more.
  expect(seconds).toBeLessThan(5);
  expect(lines.filter((line) => line.includes(silent.origin))).toEqual([
    expect.stringMatching(/^metrics of .*: no answer for [\d.]+ s$/),
  ]);
  expect(servers).toMatchObject({
    targets: [
      { state: 'up' },
      { state: 'waiting', failed_scrapes: 1, notes: [expect.stringMatching(/no answer for/)] },
    ],
  });
});
