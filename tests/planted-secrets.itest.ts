import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunFile } from '../core/run/run.ts';
import {
  response,
  GOOD_STREAM,
  scriptedServer,
  streamOf,
  type ScriptedServer,
} from '../exporter/load/testing/scripted-server.ts';
import { llmbench, start, type Ended } from './llmbench.ts';

/** Each has its own number, so that a failure names where it leaked. */
const planted = (n: number): string => `planted-${n}-0f3a9c`;
const PLANTED = /planted-\d+-0f3a9c/g;
const SERVER_VERSION = JSON.stringify({ version: '0.32.0', api_key: planted(30), env: { HF_TOKEN: planted(31) } });
const METRICS =
  '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="m"} 0\n' +
  '# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="16"} 1\n';

let server: ScriptedServer;
let runsDir: string;
const environment = {
  ...{ LLM_KEY: planted(1), METRICS_TOKEN: planted(2) },
  ...{
    GITLAB_CI: 'true',
    CI_JOB_TOKEN: planted(33),
    CI_JOB_URL: `https://ci:${planted(34)}@gitlab/jobs/1?t=${planted(35)}`,
  },
  CI_JOB_NAME: `bench ${planted(1)}`,
};

/** Of a run; the first request is that of the probe. */
const REQUESTS = 9;

/** Repeats what it received in an error message for some requests of each run, and for all remote writes. */
beforeAll(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-planted-'));
  let answered = 0;
  server = await scriptedServer((socket, { head, body }) => {
    if (head.startsWith('GET /version ')) return socket.write(response('200 OK', 'application/json', SERVER_VERSION));
    if (head.startsWith('GET ')) return socket.write(response('200 OK', 'text/plain; version=0.0.4', METRICS));
    const isRejected = head.startsWith('POST /api/v1/write') || (answered++ % (REQUESTS + 1)) % 3 === 2;
    if (!isRejected) return socket.write(streamOf(GOOD_STREAM));
    const received = [...`${head} ${body}`.matchAll(PLANTED)].map(([secret]) => secret);
    // As much as is shown of a message, and each time something else.
    const shown = [...received, ...received].slice(answered % received.length);
    const message = `rejected: ${shown.join(' ')}`;
    return socket.write(response('400 Bad Request', 'application/json', JSON.stringify({ error: { message } })));
  });
});

afterAll(async () => {
  await server.close();
  await rm(runsDir, { recursive: true });
});

const run = (runId: string, extra: object): Promise<Ended> => {
  const address = `127.0.0.1:${server.port}`;
  const argv = [
    ...['run', '--url', `http://${address}?token=${planted(3)}&v=${planted(4)}`, '--model', 'm', '--osl', '8'],
    ...['--api-key-env', 'LLM_KEY', '--header', `X-Custom: ${planted(5)}`, '--extra-inputs', JSON.stringify(extra)],
    ...['--extra-inputs', `hf_token:${planted(6)}`, '--server-metrics', `http://${address}/metrics`],
    ...['--server-metrics-bearer-env', 'METRICS_TOKEN', '--server-metrics-header', `X-Scrape: ${planted(7)}`],
    ...['--remote-write-url', `http://u:${planted(8)}@${address}/api/v1/write?t=${planted(9)}`],
    ...['--metadata', `team=infra ${planted(2)}`, '--metadata', `hub_token=${planted(36)}`],
    ...['--metadata', `page=http://u:${planted(37)}@h/?k=${planted(38)}`],
    ...['--server-image', `https://u:${planted(39)}@registry/vllm@sha256:0`],
    ...['--request-count', String(REQUESTS), '--concurrency', '1', '--linger', 'no', '--export', 'aiperf'],
    ...['--scenario', 'planted', '--runs-dir', runsDir, '--run-id', runId],
  ];
  return start(argv, { env: environment }).ended;
};

const INPUTS = {
  ...{ api_key: planted(10), top_k: 3 },
  nvext: { auth: { user: planted(11) }, extra_headers: { a: planted(12) } },
  hook: `http://u:${planted(13)}@h/`,
  note: `Bearer ${planted(14)}`,
};

/** Text → where it was found. */
async function everythingKept(): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for (const entry of await readdir(runsDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) kept.set(path, await readFile(path, 'latin1'));
  }
  // Parquet is compressed.
  for (const rows of ['requests', 'measures']) {
    const { stdout } = await llmbench(
      ...['runs', 'export', 'secret', '--rows', rows, '--format', 'jsonl', '--runs-dir', runsDir],
    );
    expect(stdout).not.toBe('');
    kept.set(`export of ${rows}`, stdout);
  }
  const { stdout } = await llmbench('runs', 'show', 'secret', '--runs-dir', runsDir);
  return kept.set('runs show', stdout);
}

async function everyPage(): Promise<ReadonlyMap<string, string>> {
  const serve = start(['serve', '--port', '0', '--runs-dir', runsDir]);
  let output = '';
  for (const stream of [serve.child.stdout, serve.child.stderr]) stream?.on('data', (text: string) => (output += text));
  await serve.said('http://127.0.0.1');
  const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? '';
  const paths = [
    ...['/', '/metrics', '/sd', '/runs/secret', '/api/v1/status', '/api/v1/runs', '/api/v1/runs/secret'],
    ...['/api/v1/runs/secret/servers', '/api/v1/runs/secret/records', '/api/v1/scenarios', '/api/v1/scenarios/planted'],
    ...['/api/v1/compare?a=secret&b=other', '/api/v1/annotations', '/api/v1/values/scenarios'],
  ];
  const pages = new Map<string, string>();
  try {
    for (const path of paths) {
      const response = await fetch(`${origin}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      pages.set(path, await response.text());
    }
  } finally {
    serve.child.kill('SIGTERM');
    await serve.ended;
  }
  return pages.set('output of serve', output);
}

const fileOf = async (id: string): Promise<RunFile> =>
  JSON.parse(await readFile(join(runsDir, id, 'run.json'), 'utf8')) as RunFile;

const leaks = (texts: ReadonlyMap<string, string>): readonly string[] =>
  [...texts].flatMap(([where, text]) => (text.match(PLANTED) ?? []).map((secret) => `${secret} in ${where}`));

describe('secrets that the user gives to a run', () => {
  test('are sent, and are in no output, file, page or export', async () => {
    const { stdout, stderr } = await run('secret', INPUTS);
    const sent = server.requests.map(({ head, body }) => `${head}\n${body}`).join('\n');
    for (const n of [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14]) expect(sent).toContain(planted(n));
    expect(stderr).toContain('rejected: ');
    expect(leaks(new Map([['output', `${stdout}\n${stderr}`]]))).toEqual([]);
    expect((await run('other', { ...INPUTS, api_key: planted(15) })).stdout).toContain('error 3');
    const { target, provenance } = await fileOf('secret');
    expect(target).toMatchObject({ system: 'vllm', system_version: '0.32.0' });
    expect(provenance?.servers[0]?.settings).toEqual({ block_size: '16' });
    expect(provenance?.metadata).toMatchObject({ hub_token: '***' });
    expect(leaks(await everythingKept())).toEqual([]);
    expect(leaks(await everyPage())).toEqual([]);
  });

  test('do not change the fingerprint, and every other input does', async () => {
    await run('third', { ...INPUTS, top_k: 4 });
    const [secret, other, third] = await Promise.all(['secret', 'other', 'third'].map(fileOf));
    expect(secret?.comparison_key.sampling).toMatchObject({ api_key: '***', top_k: 3, hf_token: '***' });
    expect(other?.fingerprint).toBe(secret?.fingerprint);
    expect(third?.fingerprint).not.toBe(secret?.fingerprint);
  });

  test('an interrupted ab shows none in the command that continues it', async () => {
    const argv = ['--a', `http://127.0.0.1:9?t=${planted(16)}`, '--b', `http://127.0.0.1:9?k=${planted(17)}`];
    const load = ['--model', 'm', '--request-count', '6', '--runs-dir', runsDir, '--id', 'ab'];
    const more = ['--b-extra-inputs', `api_key:${planted(18)}`, '--a-header', `X-A: ${planted(19)}`];
    const { stdout, stderr, code } = await llmbench('ab', ...argv, ...load, ...more);
    expect([code, stderr]).toEqual([1, expect.stringContaining('to continue it: llmbench ab ')]);
    expect(leaks(new Map([['output', stdout + stderr]]))).toEqual([]);
  });

  test('extra inputs that cannot be read are not repeated', async () => {
    const { code, stderr } = await llmbench('run', '--extra-inputs', `{"api_key":"${planted(20)}`, '--url', 'h');
    expect(code).toBe(2);
    expect(leaks(new Map([['stderr', stderr]]))).toEqual([]);
  });
});
