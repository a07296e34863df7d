import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseText } from '../core/exposition/index.ts';
import type { RunFile } from '../core/run/run.ts';
import { describeWithEachPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus } from '../prometheus/server.ts';
import { llmbench, start, type Started } from './llmbench.ts';

const TOKEN = 'a-token-of-some-length';
const SECRET = 'secret-that-no-run-may-see';
const WAIT_MS = 120_000;
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

interface StartedRun {
  readonly run_id: string;
  readonly state: string;
  readonly exit_code: number | null;
  readonly message: string | null;
}

let folder: string;
let model: Started;
let serve: Started;
let url: string;

async function urlOf(process: Started): Promise<string> {
  let output = '';
  process.child.stdout?.on('data', (text: string) => (output += text));
  await process.said('"url"');
  return (JSON.parse(output) as { url: string }).url;
}

const allow = (scenarios: Record<string, unknown>): Promise<void> =>
  writeFile(join(folder, 'allowed.yml'), JSON.stringify({ scenarios, queue: 1 }));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-starts-'));
  await writeFile(join(folder, 'token'), TOKEN, { mode: 0o600 });
  model = start(['simulate', '--port', '0', '--json']);
  const load = { url: await urlOf(model), model: 'sim-model', isl: 8, osl: 4, concurrency: 2 };
  await writeFile(join(folder, 'smoke.yml'), JSON.stringify({ ...load, 'request-count': 10 }));
  const words = Object.entries(load).flatMap(([name, value]) => [`--${name}`, value]);
  await allow({
    smoke: { config: 'smoke.yml', probe: true },
    long: { arguments: [...words, '--benchmark-duration', 300], probe: true },
    strict: { config: 'smoke.yml', arguments: ['--slo', 'time_to_first_token:p99<1us'], probe: true },
    nowhere: { arguments: [...words, '--url', 'http://127.0.0.1:9', '--request-count', 5], probe: true },
    unprobed: { config: 'smoke.yml' },
  });
  serve = start(
    [
      ...['serve', '--port', '0', '--runs-dir', join(folder, 'runs'), '--json', '--api-token-file'],
      ...[join(folder, 'token'), '--allow-runs', join(folder, 'allowed.yml')],
    ],
    { env: { LLMBENCH_GRAFANA_TOKEN: SECRET, LLMBENCH_ISL: '9999' } },
  );
  url = await urlOf(serve);
});

afterAll(async () => {
  for (const { child, ended } of [serve, model]) {
    child.kill('SIGTERM');
    await ended;
  }
  await rm(folder, { recursive: true });
});

async function post(body: unknown, headers: Record<string, string> = AUTHORIZED): Promise<Response> {
  const type = { 'content-type': 'application/json' };
  return fetch(`${url}/api/v1/runs`, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) });
}

const get = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;

async function until<T>(read: () => Promise<T>, isReached: (value: T) => boolean): Promise<T> {
  for (const end = Date.now() + WAIT_MS; ;) {
    const value = await read();
    if (isReached(value) || Date.now() > end) return value;
    await sleep(100);
  }
}

/** Starts a scenario, and waits for its end. */
async function started(scenario: string): Promise<StartedRun> {
  const location = (await post({ scenario })).headers.get('location') ?? '';
  return until(
    () => get<StartedRun>(location),
    ({ state }) => state === 'ended',
  );
}

describe('POST /api/v1/runs', () => {
  test('starts the scenario as a process that stores the run, without variables of serve', async () => {
    const response = await post({ scenario: 'smoke' });
    const { run_id, state } = (await response.json()) as StartedRun;
    expect([response.status, response.headers.get('location'), state]).toEqual([
      ...[202, `/api/v1/starts/${run_id}`, 'running'],
    ]);
    const end = await until(
      () => get<StartedRun>(`/api/v1/starts/${run_id}`),
      (run) => run.state === 'ended',
    );
    expect(end).toMatchObject({ exit_code: 0, message: null });
    const { run } = await get<{ run: RunFile }>(`/api/v1/runs/${run_id}`);
    expect(run).toMatchObject({ scenario: 'smoke', status: 'completed' });
    // LLMBENCH_ISL of serve is no option of the run.
    expect(run.command_line).not.toContain('9999');
    const files = await readdir(join(folder, 'runs', run_id), { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile())) {
      expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toContain(SECRET);
    }
  });

  test('a run that cannot be made says why', async () => {
    expect(await started('nowhere')).toMatchObject({
      ...{ state: 'ended', exit_code: 1, message: expect.stringMatching(/127\.0\.0\.1:9/) as unknown },
    });
  });

  test('one at a time; one waits, and beyond that 503', async () => {
    const [first, second, third] = [await post({ scenario: 'long' }), await post({ scenario: 'smoke' }), await post({ scenario: 'smoke' })]; // prettier-ignore
    const [long, waiting] = [(await first.json()) as StartedRun, (await second.json()) as StartedRun];
    expect([long.state, waiting.state, third.status]).toEqual(['running', 'queued', 503]);
    expect(third.headers.get('retry-after')).toBe('60');
    await until(
      () => get<{ status: number }>(`/api/v1/runs/${long.run_id}`),
      ({ status }) => status !== 404,
    );
    const { runs } = await get<{ runs: StartedRun[] }>('/api/v1/starts');
    expect(runs.slice(0, 2).map(({ run_id }) => run_id)).toEqual([waiting.run_id, long.run_id]);
  });

  test.each([
    ['a scenario that is not in the file', { scenario: 'other' }, AUTHORIZED, 404],
    ['an address', { scenario: 'smoke', url: 'http://evil.example' }, AUTHORIZED, 400],
    ['no scenario', {}, AUTHORIZED, 400],
    ['no token', { scenario: 'smoke' }, {}, 401],
    ['the page of another site', { scenario: 'smoke' }, { ...AUTHORIZED, origin: 'http://evil.example' }, 403],
  ])('%s is refused', async (_what, body, headers, status) => {
    expect((await post(body, headers)).status).toBe(status);
  });
});

test('when serve ends, its runs are stored as aborted, and those that wait do not begin', async () => {
  const { runs } = await get<{ runs: StartedRun[] }>('/api/v1/starts');
  const long = runs.find(({ state }) => state === 'running');
  const waiting = runs.find(({ state }) => state === 'queued');
  await until(
    () => get<{ run?: RunFile }>(`/api/v1/runs/${long?.run_id}`),
    ({ run }) => run?.status === 'running',
  );
  serve.child.kill('SIGTERM');
  expect((await serve.ended).code).toBe(0);
  const run = JSON.parse(await readFile(join(folder, 'runs', long?.run_id ?? '', 'run.json'), 'utf8')) as RunFile;
  expect(run.status).toBe('aborted');
  expect(await readdir(join(folder, 'runs'))).not.toContain(waiting?.run_id);
  serve = start([
    ...['serve', '--port', '0', '--runs-dir', join(folder, 'runs'), '--json', '--api-token-file'],
    ...[join(folder, 'token'), '--allow-runs', join(folder, 'allowed.yml')],
  ]);
  url = await urlOf(serve);
});

describe('GET /probe', () => {
  const probe = async (scenario: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/probe?scenario=${scenario}`, { headers: { ...AUTHORIZED, ...headers } });
    return { status: response.status, text: await response.text() };
  };
  const value = (text: string, family: string, labels: Record<string, string> = {}): number | undefined =>
    parseText(new TextEncoder().encode(text))
      .families.find(({ name }) => name === family)
      ?.samples.find((sample) => Object.entries(labels).every(([name, each]) => sample.labels[name] === each))?.value;

  test('responds with the results of a run that is not kept', async () => {
    const before = await readdir(join(folder, 'runs'));
    const { status, text } = await probe('smoke');
    expect(status).toBe(200);
    expect(value(text, 'llmbench_probe_success')).toBe(1);
    expect(value(text, 'llmbench_probe_duration_seconds')).toBeGreaterThan(0);
    expect(value(text, 'llmbench_probe_result_requests', { measure: 'requests', stat: 'ok' })).toBe(10);
    expect(value(text, 'llmbench_probe_result_seconds', { measure: 'time_to_first_token', stat: 'p50' })).toBeGreaterThan(0); // prettier-ignore
    expect(text).not.toContain('run_id');
    expect(await readdir(join(folder, 'runs'))).toEqual(before);
  });

  test('an objective that is not met is no success, and its values are there', async () => {
    const { text } = await probe('strict');
    expect(value(text, 'llmbench_probe_success')).toBe(0);
    expect(value(text, 'llmbench_probe_result_requests', { measure: 'requests', stat: 'ok' })).toBe(10);
  });

  test('a server that does not answer is no success and has no values', async () => {
    const { status, text } = await probe('nowhere');
    expect([status, value(text, 'llmbench_probe_success')]).toEqual([200, 0]);
    expect(text).not.toContain('llmbench_probe_result');
  });

  test('the response comes before the timeout of the scrape, and the run is stopped', async () => {
    const began = Date.now();
    const { status, text } = await probe('long', { 'x-prometheus-scrape-timeout-seconds': '3' });
    expect([status, value(text, 'llmbench_probe_success')]).toEqual([200, 0]);
    expect(value(text, 'llmbench_probe_duration_seconds')).toBeCloseTo(2.5, 0);
    expect(Date.now() - began).toBeLessThan(60_000);
    // The slot is free again long before the 300 s of the run.
    expect(value((await probe('smoke')).text, 'llmbench_probe_success')).toBe(1);
  });

  test('probes of one scenario at the same time share one run', async () => {
    const probes = await Promise.all([probe('smoke'), probe('smoke'), probe('smoke')]);
    const shared = probes.map(({ text }) =>
      value(text, 'llmbench_probe_result_seconds', { measure: 'request_latency', stat: 'mean' }),
    );
    expect(shared[0]).toBeGreaterThan(0);
    expect(new Set(shared).size).toBe(1);
  });

  test.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 404],
    ['none', 404],
  ])('a browser that sends Sec-Fetch-Site: %s gets %d', async (site, status) => {
    expect((await probe('other', { 'sec-fetch-site': site })).status).toBe(status);
  });

  test.each([
    ['a scenario without `probe: true`', 'unprobed', {}, 404],
    ['an address beside it', 'smoke&target=http://evil.example', {}, 400],
    ['two scenarios', 'smoke&scenario=long', {}, 400],
    ['no token', 'smoke', { authorization: '' }, 401],
    ['a timeout that is no number', 'smoke', { 'x-prometheus-scrape-timeout-seconds': 'soon' }, 400],
  ])('%s is refused', async (_what, scenario, headers, status) => {
    expect((await probe(scenario, headers)).status).toBe(status);
  });
});

await describeWithEachPrometheus('a real Prometheus', (programs) => {
  test('probes a scenario', async () => {
    const configFile = join(folder, 'prometheus.yml');
    const config = {
      scrape_configs: [
        {
          ...{ job_name: 'llmbench-probe', metrics_path: '/probe', scrape_interval: '30s', scrape_timeout: '30s' },
          authorization: { credentials_file: join(folder, 'token') },
          params: { scenario: ['smoke'] },
          static_configs: [{ targets: [new URL(url).host] }],
        },
      ],
    };
    await writeFile(configFile, JSON.stringify(config));
    const dataFolder = await mkdtemp(join(folder, 'prometheus-'));
    const prometheus = await startPrometheus({ programs, configFile, dataFolder });
    try {
      const query = async (text: string): Promise<string | undefined> => {
        const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(text)}`);
        const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
        return data.result[0]?.value[1];
      };
      const up = await until(
        () => query('up'),
        (each) => each !== undefined,
      );
      expect(up).toBe('1');
      expect(await query('llmbench_probe_success{job="llmbench-probe"}')).toBe('1');
      expect(await query('llmbench_probe_result_requests{measure="requests",stat="ok"}')).toBe('10');
    } finally {
      await prometheus.stop();
    }
  });
});

test.each([
  [
    'without a token or roles',
    'scenarios: {a: {config: x}}',
    [],
    /--allow-runs requires --api-token-file or --roles-f/,
  ],
  ['an option that run does not have', 'scenarios: {a: {arguments: [--concurency, 2]}}', ['token'], /--concurrency/],
  ['a file that does not exist', null, ['token'], /--allow-runs: .*none\.yml cannot be read/],
])('%s: one line and exit code 2', async (_what, text, token, message) => {
  const file = join(folder, 'none.yml');
  if (text !== null) await writeFile(file, text);
  else await rm(file, { force: true });
  const access = token.flatMap((name) => ['--api-token-file', join(folder, name)]);
  const { code, stdout, stderr } = await llmbench(
    ...['serve', '--port', '0', '--runs-dir', join(folder, 'other-runs'), '--allow-runs', file],
    ...access,
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd()).not.toContain('\n');
});
