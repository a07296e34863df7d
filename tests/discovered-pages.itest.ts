import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../core/testing/until.ts';
import type { ResultFile } from '../core/run/result.ts';
import type { ServersFile } from '../core/run/servers-file.ts';
import type { Pod } from '../exporter/servers/discovery/pods.ts';
import { announced, start, type Ended, type Started } from './llmbench.ts';

const TOKEN = 'token-of-test';
const PODS = new URL('../exporter/servers/discovery/fixtures/pods.json', import.meta.url);

let directory: string;
let api: Server;
let simulator: Started;
let simulated: URL;
/** Pods of `app=scaled`. */
let scaled: readonly URL[] = [];
const requests: IncomingMessage[] = [];

/** The part of the Kubernetes API that lists pods, with one more pod: the simulated server on this machine. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  requests.push(request);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
  const send = (code: number, body: unknown): void => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const status = (code: number, message: string): void =>
    send(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message });
  if (pathname === '/targets') {
    send(200, [{ targets: [simulated.host], labels: { job: 'vllm' } }]);
  } else if (request.headers.authorization !== `Bearer ${TOKEN}`) {
    status(401, 'Unauthorized');
  } else if (pathname === '/api/v1/namespaces/secret/pods') {
    status(403, 'pods is forbidden');
  } else {
    expect(pathname).toBe('/api/v1/namespaces/inference/pods');
    const list = JSON.parse(readFileSync(PODS, 'utf8')) as { items: Pod[] };
    const podAt = ({ port }: URL, i: number): Pod => ({
      metadata: {
        name: `simulated-${i}`,
        labels: { app: 'simulated' },
        annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': port },
      },
      spec: { containers: [] },
      status: { phase: 'Running', podIP: '127.0.0.1' },
    });
    const own = podAt(simulated, 0);
    const [key = '', value] = (searchParams.get('labelSelector') ?? '').split('=');
    if (value === 'scaled') {
      send(200, { ...list, items: scaled.map(podAt) });
      return;
    }
    if (value === 'many') {
      const many = Array.from({ length: 300 }, (_, i) => ({
        ...own,
        metadata: { ...own.metadata, name: `many-${i}` },
      }));
      const from = Number(searchParams.get('continue') ?? 0);
      // A server may send fewer than the requested limit.
      const to = from + Math.min(120, Number(searchParams.get('limit')));
      const metadata = to < many.length ? { continue: String(to) } : {};
      send(200, { ...list, metadata, items: many.slice(from, to) });
      return;
    }
    send(200, { ...list, items: [...list.items, own].filter(({ metadata }) => metadata?.labels?.[key] === value) });
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-pods-'));
  simulator = start(['simulate', '--port', '0', '--json']);
  simulated = new URL((await announced(simulator)).url);
  api = createServer(answer).listen(0, '127.0.0.1');
  await once(api, 'listening');
  await writeFile(join(directory, 'kubeconfig'), kubeconfig(TOKEN));
  await writeFile(join(directory, 'wrong-token'), kubeconfig('another'));
});

afterAll(async () => {
  simulator.child.kill();
  await simulator.ended;
  api.closeAllConnections();
  api.close();
  await rm(directory, { recursive: true });
});

const apiUrl = (): string => `http://127.0.0.1:${(api.address() as AddressInfo).port}`;

function kubeconfig(token: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    // The client accepts plain HTTP only so.
    clusters: [{ name: 'test', cluster: { server: apiUrl(), 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}

const collect = (search: string, config = 'kubeconfig', ...more: readonly string[]): Promise<Ended> =>
  start(
    ['collect', '--server-metrics', search, '--duration', '1', '--json', '--out', join(directory, 'out'), ...more],
    {
      env: { KUBECONFIG: join(directory, config), HOME: directory, KUBERNETES_SERVICE_HOST: '' },
    },
  ).ended;

test('collects the pages of the pods that a label selector matches', async () => {
  const { code, stdout, stderr } = await collect('k8s:inference/app=simulated');
  expect([code, stderr]).toEqual([0, expect.stringContaining('found 1 metrics page by k8s:inference/app=simulated')]);
  expect(stderr).toContain(`simulated-0 at ${simulated.href}metrics`);
  const { targets } = JSON.parse(stdout) as { targets: readonly { name: string; system: string }[] };
  expect(targets).toEqual([expect.objectContaining({ system: 'vllm' })]);
  expect(requests.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test('lists hundreds of pods page by page, and reads as many as the option allows', async () => {
  const refused = await collect('k8s:inference/app=many');
  const reason = '--server-metrics k8s:inference/app=many: 300 metrics pages are more than 256 (--max-found-pages)';
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
  const allowed = await collect('k8s:inference/app=many', 'kubeconfig', '--max-found-pages', '300');
  expect(allowed.stderr).toContain('found 300 metrics pages by k8s:inference/app=many');
});

test('a run reads the pages of pods, and names them in its result', async () => {
  const args = ['--url', simulated.href, '--model', 'sim-model', '--concurrency', '2', '--request-count', '10'];
  const { code, stderr, stdout } = await start(
    [
      ...['run', ...args, '--isl', '8', '--osl', '8', '--json', '--runs-dir', join(directory, 'runs')],
      ...['--server-metrics', 'k8s:inference/app=simulated'],
    ],
    { env: { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory } },
  ).ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('found 1 metrics page by k8s:inference/app=simulated')]);
  expect(stdout).toContain(`${simulated.host}/metrics`);
});

const requestsOf = async (server: URL): Promise<number> =>
  (await (await fetch(new URL('/metrics', server))).text())
    .split('\n')
    .filter((line) => line.startsWith('vllm:request_success_total'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

test('a run counts a pod that starts during it from 0, and marks when it joined and left', async () => {
  scaled = [simulated];
  const before = await requestsOf(simulated);
  const load = ['--url', simulated.href, '--model', 'sim-model', '--concurrency', '1', '--benchmark-duration', '280'];
  const runs = join(directory, 'scaled');
  const run = start(
    [
      ...['run', ...load, '--isl', '8', '--osl', '8', '--runs-dir', runs, '--run-id', 'scaled'],
      ...['--server-metrics', 'k8s:inference/app=scaled'],
    ],
    { env: { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory } },
  );
  const [joined, left] = [run.said('joined: found by'), run.said('left: no longer found by')];
  // The second request is not that of the probe any more: the window has begun.
  await until(async () => (await requestsOf(simulated)) > before + 2, 120, 100);
  await pause(2000);
  const pod = start(['simulate', '--port', '0', '--json']);
  const address = new URL((await announced(pod)).url);
  const body = JSON.stringify({ model: 'sim-model', max_tokens: 4, messages: [{ role: 'user', content: 'a' }] });
  const ask = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  for (let i = 0; i < 3; i++) await (await fetch(new URL('/v1/chat/completions', address), ask)).text();
  scaled = [simulated, address];
  await joined;
  scaled = [simulated];
  await left;
  run.child.kill('SIGINT');
  await run.ended;
  pod.child.kill();
  const read = async <T>(name: string): Promise<T> =>
    JSON.parse(await readFile(join(runs, 'scaled', name), 'utf8')) as T;
  const { servers } = await read<ResultFile>('result.json');
  const target = `${address.href}metrics`;
  expect(servers?.target_changes).toMatchObject([
    { target, change: 'joined' },
    { target, change: 'left' },
  ]);
  expect(servers?.targets.find((each) => each.target === target)?.notes.join()).toMatch(
    /is counted from 0.*joined|joined.*is counted from 0/,
  );
  const { series } = await read<ServersFile>('servers.json');
  const gained = series.flatMap(({ family, target: of, statistics }) =>
    family === 'vllm:request_success_total' && of === target && statistics?.kind === 'counter'
      ? (statistics.increase ?? NaN)
      : [],
  );
  expect(gained.reduce((sum, each) => sum + each, 0)).toBe(3);
}, 300_000);

test('collects the targets of an HTTP service discovery', async () => {
  const { code, stderr } = await collect(`http-sd:${apiUrl()}/targets`);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`found 1 metrics page by http-sd:${apiUrl()}/targets`)]);
});

test.each([
  ['k8s:inference/app=missing', 'kubeconfig', 'no pod matches'],
  ['k8s:inference/app=grpc', 'kubeconfig', '1 pod found, but no running pod with a metrics page'],
  ['k8s:secret/app=vllm', 'kubeconfig', 'listing pods is forbidden (HTTP 403)'],
  ['k8s:inference/app=vllm', 'wrong-token', 'the credentials of Kubernetes are not valid (HTTP 401)'],
  ['k8s:inference/app=vllm', 'absent', 'the configuration of Kubernetes cannot be read'],
  ['k8s:inference', 'kubeconfig', 'k8s:inference/app=vllm'],
  ['http-sd:http://127.0.0.1:9/targets', 'kubeconfig', 'http-sd:http://127.0.0.1:9/targets: '],
])('%s with %s ends with one line and exit code 2', async (search, config, reason) => {
  const { code, stderr } = await collect(search, config);
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  expect(stderr).not.toContain(TOKEN);
});
