import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { RunFile } from '../../core/run/run.ts';
import { requestRecord, resultFile, runFile } from '../publish/fixtures/run.ts';
import type { RunReader } from '../publish/run-reader.ts';
import { RunList, RunLibrary } from '../publish/views/run-library.ts';
import { runSummary } from '../publish/views/run-summary.ts';
import { RunStore } from '../store/run-store.ts';
import { tokenAccess, type TokenAccessOptions } from './access/access.ts';
import { hostCheck } from './allowed-host.ts';
import type { Listening } from './listen.ts';
import { listen } from './listen.ts';
import { createServeApp } from './serve-app.ts';

let server: Listening | undefined;
afterEach(() => server?.close());

const oneRun: RunReader = {
  list: async () => [
    { run_id: 'r1', summary: runSummary(runFile({ run_id: 'r1', status: 'completed' }), null), damage: null },
  ],
  readRun: async () => runFile({ run_id: 'r1', status: 'completed' }),
  readResult: async () => resultFile({ run_id: 'r1' }),
  readServers: async () => null,
  async *readRecords() {
    yield requestRecord();
  },
  live: async (): Promise<readonly RunFile[]> => [
    runFile({
      run_id: 'r2',
      process: {
        pid: 1,
        start_time: '1',
        metrics_url: 'http://127.0.0.1:9470/metrics',
        server_metrics_urls: ['http://gpu-1:8000/metrics'],
      },
    }),
  ],
};

async function serve(
  source: RunReader,
  access: TokenAccessOptions = { token: null },
): Promise<{ url: string; problems: string[] }> {
  const problems: string[] = [];
  const problem = (line: string): void => void problems.push(line);
  // The folder does not exist: the API has no runs.
  const nowhere = new RunStore('/nowhere/runs');
  const library = new RunLibrary(nowhere, new RunList(nowhere), problem);
  const app = createServeApp({
    source,
    library,
    version: '0.1.0',
    access: tokenAccess(access),
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
    problem,
  });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  return { url: server.url, problems };
}

async function get(url: string): Promise<{ status: number; type: unknown; text: string }> {
  const { statusCode, headers, body } = await request(url);
  return { status: statusCode, type: headers['content-type'], text: await body.text() };
}

/** Of a path that is sent as it is. */
async function statusOfRawPath({ hostname, port }: URL, path: string): Promise<number | undefined> {
  const sent = http.get({ hostname, port, path });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('/metrics shows finished runs under results and none as live', async () => {
  const { url } = await serve(oneRun);
  const { status, type, text } = await get(`${url}/metrics`);
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(text).toContain('llmbench_result_requests{run_id="r1",measure="requests",stat="ok"} 3\n');
  expect(text).toContain('llmbench_result_request_latency_seconds_count{run_id="r1"} 1\n');
  expect(text).not.toMatch(/^llmbench_(requests_total|run_phase|time_to_first_token)/m);
});

test('/metrics is also served in two parts', async () => {
  const { url } = await serve(oneRun);
  const part = (name: string) => get(`${url}/metrics?collect[]=${name}`);
  const results = await part('results');
  expect([results.status, results.type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(results.text).toMatch(/^llmbench_result_requests\{run_id="r1",measure="requests",stat="ok"\} 3$/m);
  expect(results.text).not.toMatch(/^llmbench_(run_info|finished_runs|build_info)/m);
  expect((await part('current')).text).toMatch(/^llmbench_run_info\{run_id="r1"/m);
  const whole = (await get(`${url}/metrics`)).text;
  expect((await part('current&collect[]=results')).text).toBe(whole);
});

test('a part that does not exist is refused, with those that do', async () => {
  const { url } = await serve(oneRun);
  expect(await get(`${url}/metrics?collect[]=live`)).toMatchObject({
    status: 400,
    text: 'collect[] must be current or results; without it, the whole page is sent.\n',
  });
  expect((await get(`${url}/metrics?collect[]=all`)).status).toBe(400);
});

test('a page of another host or origin is rejected on every path', async () => {
  const { url } = await serve(oneRun);
  for (const path of ['/metrics', '/sd', '/', '/api/v1/status', '/nothing']) {
    for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }]) {
      const { statusCode, body } = await request(`${url}${path}`, { headers });
      expect([path, headers, statusCode]).toEqual([path, headers, 403]);
      expect(await body.text()).not.toContain('llmbench_');
    }
  }
});

test('the readiness check names a damaged run', async () => {
  const { url } = await serve({ ...oneRun, list: async () => [{ run_id: 'r9', summary: null, damage: 'cut off' }] });
  await get(`${url}/metrics`);
  expect(await get(`${url}/-/ready`)).toMatchObject({
    status: 200,
    text: 'llmbench is ready.\nrun r9 cannot be read.\n',
  });
});

test('/sd follows the http_sd format', async () => {
  const { url } = await serve(oneRun);
  const { status, type, text } = await get(`${url}/sd`);
  expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
  const groups = JSON.parse(text) as { targets: string[]; labels: Record<string, string> }[];
  expect(groups.map(({ targets, labels }) => [targets, labels['job']])).toEqual([
    [['127.0.0.1:9470'], 'llmbench-run'],
    [['gpu-1:8000'], 'llmbench-server'],
  ]);
  expect(groups.every(({ labels }) => !('run_id' in labels))).toBe(true);
});

test('/sd is an empty list without running runs', async () => {
  const { url } = await serve({ ...oneRun, live: async () => [] });
  expect((await get(`${url}/sd`)).text).toBe('[]');
});

test('is ready once the runs have been read, and healthy before', async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { url } = await serve({
    ...oneRun,
    list: async () => {
      await gate;
      return [];
    },
  });
  expect((await get(`${url}/-/healthy`)).status).toBe(200);
  expect((await get(`${url}/-/ready`)).status).toBe(503);
  release();
  await get(`${url}/metrics`);
  expect((await get(`${url}/-/ready`)).status).toBe(200);
});

test('each alert has its runbook here, and nothing else is served from that folder', async () => {
  const { url } = await serve(oneRun);
  const { status, type, text } = await get(`${url}/runbooks/LlmQueueSaturated.md`);
  expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^# LlmQueueSaturated\n/);
  for (const page of ['LlmUnknown.md', 'LlmQueueSaturated', '..%2fdesign.md', 'Llm%2f..%2f..%2fdesign.md', 'README.md'])
    expect([page, (await get(`${url}/runbooks/${page}`)).status]).toEqual([page, 404]);
});

test('the landing page shows the runs, and a run without a report is not found', async () => {
  const { url } = await serve(oneRun);
  const page = await request(url);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(await page.body.text()).toContain('No runs yet.');
  expect((await get(`${url}/runs/r1`)).status).toBe(404);
  expect((await get(`${url}/runs/..%2f..%2fetc`)).status).toBe(404);
});

test.each(['/runs/%ff', '/runbooks/%E0%A4%A'])('the malformed path %s is refused, and not logged', async (path) => {
  const { url, problems } = await serve(oneRun);
  expect(await statusOfRawPath(new URL(url), path)).toBe(400);
  expect(problems).toEqual([]);
});

test('pages that depend on the client are not shared by caches', async () => {
  const { url } = await serve(oneRun, { token: 'a-token-of-some-length' });
  for (const path of ['/', '/runs/r1']) {
    const { headers, body } = await request(`${url}${path}`);
    await body.dump();
    expect([path, headers['cache-control'], headers['vary']]).toEqual([path, 'private, no-cache', 'Authorization']);
  }
});

test('every link of the landing page works', async () => {
  const { url } = await serve(oneRun);
  await get(`${url}/metrics`);
  const { text } = await get(url);
  const paths = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path ?? '');
  // Relative, so that they work below the path of a reverse proxy.
  expect(paths).toEqual(['metrics', 'sd', 'api/v1/openapi.yaml', '-/healthy', '-/ready']);
  for (const path of paths) expect([path, (await get(`${url}/${path}`)).status]).toEqual([path, 200]);
});

test('runs that cannot be listed: 500 for Prometheus, the reason in the log, and the service continues', async () => {
  let failing = true;
  const { url, problems } = await serve({
    ...oneRun,
    list: async () => {
      if (failing) throw new Error('cannot read the runs directory');
      return [];
    },
  });
  expect((await get(`${url}/metrics`)).status).toBe(500);
  expect((await get(`${url}/-/healthy`)).status).toBe(200);
  expect(new Set(problems)).toEqual(
    new Set(['cannot read the runs directory', 'GET /metrics failed: cannot read the runs directory']),
  );
  failing = false;
  expect((await get(`${url}/metrics`)).status).toBe(200);
});

// Grafana lets only editors change baselines: it compares the path of a request with /api.
test.each(['/API', '/%61pi', '/x/../api', '//api', '/api/../api', '/.//api'])(
  'a change whose path begins with %s is refused',
  async (api) => {
    const { url } = await serve(oneRun, { token: 'secret', allowBaselineChanges: true });
    const { port } = new URL(url);
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/json', 'content-length': 2 };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const path = `${api}/v1/scenarios/chat/baseline`;
      const sent = plainRequest({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once('error', reject).end('{}');
    });
    expect(status).toBe(405);
  },
);
