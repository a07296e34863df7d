import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { selfSignedCertificate, VALID } from '../../load/testing/certificate.ts';
import { run } from './explain.ts';
import { ExpectedError } from '../../errors/expected-error.ts';
import { ExitCode, exitCodeOf } from '../failure.ts';

let printed = '';

beforeEach(() => {
  printed = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function failure(argv: readonly string[]): Promise<{ readonly message: string; readonly exitCode: number }> {
  const error = await run(argv).catch((reason: unknown) => reason);
  if (error instanceof ExpectedError) return { message: error.message, exitCode: exitCodeOf(error) };
  throw new Error(`no expected error: ${String(error)}`);
}

describe('METRIC', () => {
  test('in any spelling', async () => {
    expect(await run(['sglang_num_running_reqs'])).toBe(ExitCode.done);
    expect(printed).toMatch(/^sglang:num_running_reqs\n/);
  });

  test('a histogram: the option of the server that sets its buckets', async () => {
    await run(['sglang:time_to_first_token_seconds']);
    expect(printed).toMatch(/set by +--bucket-time-to-first-token\n/);
    printed = '';
    await run(['vllm:time_to_first_token_seconds', '--json']);
    expect(JSON.parse(printed)).toMatchObject([
      { system: 'vllm', bucket_option: { name: '--custom-histogram-buckets', since: 'after 0.30.0' } },
      { system: 'triton-vllm-backend', bucket_option: null },
    ]);
  });

  test('as JSON: every system that has it, with the dashboard that shows it', async () => {
    await run(['vllm:time_to_first_token_seconds', '--json']);
    const explanations = JSON.parse(printed) as { system: string; per: string; dashboards: { uid: string }[] }[];
    expect(explanations.map(({ system }) => system)).toEqual(['vllm', 'triton-vllm-backend']);
    expect(explanations[0]).toMatchObject({ per: 'request', unit: 'seconds', type: 'histogram' });
    expect(explanations[0]?.dashboards.map(({ uid }) => uid)).toContain('llmbench-benchmark');
  });

  test("llmbench's own: meaning, unit, labels with what they say, and where it is served", async () => {
    expect(await run(['llmbench_requests_total'])).toBe(ExitCode.done);
    expect(printed).toMatch(/^llmbench_requests_total\n {2}Requests ended, by outcome\.\n/);
    expect(printed).toMatch(/type +counter/);
    expect(printed).toMatch(/unit +requests/);
    expect(printed).toMatch(/outcome: ok, error, timeout, cancelled/);
    expect(printed).toContain('llmbench run --metrics-port');
    printed = '';
    await run(['llmbench_time_to_first_token_seconds_bucket', '--json']);
    expect(JSON.parse(printed)).toMatchObject({
      name: 'llmbench_time_to_first_token_seconds',
      type: 'histogram',
      unit: 'seconds',
      measure: { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' },
    });
  });

  test("llmbench's own, mistyped: its neighbors", async () => {
    expect((await failure(['llmbench_request_total'])).message).toContain('llmbench_requests_total');
  });

  test('what a server said in a run: how it was computed, then the family itself', async () => {
    for (const name of [
      'llmbench_server_vllm_num_requests_running',
      'llmbench_server_nv_inference_request_duration_seconds_total',
    ]) {
      printed = '';
      expect(await run([name])).toBe(ExitCode.done);
      expect(printed).toContain(`${name}\n  what llmbench computed`);
    }
    expect(printed).toContain('nv_inference_request_duration_us\n');
  });

  test('a URL belongs to --url, and an empty name is refused', async () => {
    const url = await failure(['http://user:geheim@localhost:8000/metrics']);
    expect([url.exitCode, url.message]).toEqual([
      ExitCode.refused,
      'METRIC is a URL; to explain the metrics page there, pass it with --url',
    ]);
    expect((await failure([''])).message).toMatch(/^METRIC is empty; usage: /);
  });

  test('unknown: the nearest names, exit code 2, nothing printed', async () => {
    const { message, exitCode } = await failure(['vllm:num_request_running']);
    expect(exitCode).toBe(ExitCode.refused);
    expect(message).toMatch(/^vllm:num_request_running is in no catalog; similar names: vllm:num_requests_running,/);
    expect(printed).toBe('');
  });

  test.each([
    [[], /METRIC or --url is required/],
    [['a', 'b'], /unexpected argument 'b': at most 1 METRIC/],
    [['a', '--url', 'http://localhost'], /METRIC and --url are mutually exclusive/],
    [['--url', 'ftp://host/metrics'], /--url is not an http address/],
    [['--url', 'http://'], /--url is not an http address/],
    [['--nosuch'], /--nosuch is not an option/],
  ])('%j is refused with exit code 2', async (argv, message) => {
    const error = await failure(argv);
    expect(error.message).toMatch(message);
    expect(error.exitCode).toBe(ExitCode.refused);
  });
});

describe('--url', () => {
  async function withPage<T>(status: number, page: Buffer | string, use: (address: string) => Promise<T>): Promise<T> {
    const server = createServer((request, response) => {
      response
        .writeHead(request.url?.startsWith('/metrics') ? status : 404, { 'content-type': 'text/plain' })
        .end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  const vllm = readFileSync(new URL('../../explain/fixtures/vllm.txt', import.meta.url));

  test('a host and port mean http and /metrics', async () => {
    await withPage(200, vllm, async (address) => {
      expect(await run(['--url', address])).toBe(ExitCode.done);
      expect(printed).toContain(`http://${address}/metrics\n  systems: vLLM\n  54 families`);
    });
  });

  test('as JSON', async () => {
    await withPage(200, vllm, (address) => run(['--json', '--url', `http://${address}/metrics?key=secret`]));
    expect(JSON.parse(printed)).toMatchObject({
      families: 54,
      creation_times: 38,
      unknown: [],
      mistyped: [],
      remarks: [],
    });
    expect(printed).not.toContain('secret');
  });

  test('no page: exit code 1', async () => {
    const { message, exitCode } = await withPage(404, 'no', (address) => failure(['--url', address]));
    expect(message).toMatch(/: HTTP 404; .*return_perf_metrics/);
    expect(exitCode).toBe(ExitCode.failed);
  });
});

test('--help shows usage and examples', async () => {
  expect(await run(['--help'])).toBe(ExitCode.done);
  expect(printed).toContain('usage: llmbench explain METRIC | --url URL [options]');
});

describe('a protected page', () => {
  test('requires the header or the token that the options name', async () => {
    const server = createServer((request, response) => {
      const isAllowed = request.headers.authorization === 'Bearer geheim' && request.headers['x-team'] === 'blue';
      response.writeHead(isAllowed ? 200 : 401, { 'content-type': 'text/plain' });
      response.end('vllm:num_requests_running 1\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    process.env['EXPLAIN_TEST_TOKEN'] = 'geheim';
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const refused = await failure(['--url', url]);
      expect(refused.message).toMatch(/HTTP 401; the page requires credentials: set --server-metrics-bearer-env/);
      const bearer = ['--server-metrics-bearer-env', 'EXPLAIN_TEST_TOKEN'];
      expect(await run(['--url', url, ...bearer, '--server-metrics-header', 'X-Team: blue'])).toBe(ExitCode.done);
      expect(printed).toContain('vllm:num_requests_running');
    } finally {
      delete process.env['EXPLAIN_TEST_TOKEN'];
      server.close();
    }
  });

  test('with a certificate of an unknown authority requires --tls-ca', async () => {
    const certificate = selfSignedCertificate(VALID);
    const server = createTlsServer(certificate, (_request, response) => response.end('vllm:num_requests_running 1\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const folder = await mkdtemp(join(tmpdir(), 'explain-'));
    try {
      const url = `https://localhost:${(server.address() as AddressInfo).port}`;
      await writeFile(join(folder, 'ca.pem'), certificate.cert);
      const refused = await failure(['--url', url]);
      expect(refused.exitCode).toBe(ExitCode.failed);
      expect(refused.message).toMatch(/--tls-ca sets the authorities to trust/);
      expect(await run(['--url', url, '--tls-ca', join(folder, 'ca.pem')])).toBe(ExitCode.done);
      expect((await failure(['--url', url, '--tls-ca', join(folder, 'none.pem')])).exitCode).toBe(ExitCode.refused);
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});
