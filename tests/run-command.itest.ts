import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import type { RunFile } from '../core/run/run.ts';
import { readResultFile } from '../exporter/store/sealed/read-run-files.ts';
import { startSimulator } from '../simulator/main.ts';
import { llmbench, start } from './llmbench.ts';
import { until } from '../core/testing/until.ts';

let simulator: Awaited<ReturnType<typeof startSimulator>>;
let runsDir: string;

beforeAll(async () => {
  simulator = await startSimulator({ system: 'vllm', port: 0, model: 'sim-model', seed: 1 });
});
afterAll(() => simulator.close());
beforeEach(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-run-'));
});
afterEach(() => rm(runsDir, { recursive: true, force: true }));

const runArgs = (...more: string[]): string[] => runArgsAt(simulator.url, ...more);

const runArgsAt = (url: string, ...more: string[]): string[] => {
  const target = ['--url', url, '--model', 'sim-model', '--runs-dir', runsDir];
  return ['run', ...target, '--concurrency', '2', '--isl', '16', '--osl', '8', ...more];
};

const runNames = async (): Promise<string[]> => (await readdir(runsDir)).filter((name) => !name.startsWith('.'));
const runFile = async (name: string): Promise<RunFile> =>
  JSON.parse(await readFile(join(runsDir, name, 'run.json'), 'utf8')) as RunFile;

describe('a run that works', () => {
  test('prints its result, leaves a run directory and exits with 0', async () => {
    const { code, stdout, stderr } = await llmbench(...runArgs('--request-count', '6', '--warmup-request-count', '2'));
    expect({ code, stderr: stderr.includes('should not have happened') }).toEqual({ code: 0, stderr: false });
    expect(stdout).toContain('ok 6 · error 0 · timeout 0 · cancelled 0');
    const [name = ''] = await runNames();
    expect(stdout).toContain(join(runsDir, name));
    expect(await runFile(name)).toMatchObject({ status: 'completed', target: { system: 'vllm' } });
  });

  test('--json prints the stored result and nothing else on stdout', async () => {
    const { stdout } = await llmbench(...runArgs('--request-count', '4', '--json', '--run-id', 'mine'));
    const result = JSON.parse(stdout) as ResultFile;
    expect(result.requests).toEqual({ ok: 4, error: 0, timeout: 0, cancelled: 0 });
    expect(await readResultFile(join(runsDir, 'mine'))).toEqual(result);
  });

  test('a finished run can be listed and shown', async () => {
    await llmbench(...runArgs('--request-count', '2', '--run-id', 'shown'));
    expect((await llmbench('runs', '--runs-dir', runsDir)).stdout).toMatch(/^shown .* completed\b/m);
    expect((await llmbench('runs', '--runs-dir', runsDir, '--run-id', 'shown')).stdout).toContain('ok 2');
  });
});

describe('what is refused before the first request: exit 2, one line, no run directory', () => {
  test.each([
    [['--concurency', '4'], '--concurency is not an option; did you mean --concurrency?'],
    [['--concurrency', 'many', '--request-count', '1'], "--concurrency is 'many' and must be a whole number"],
    [[], '--request-count, --conversation-num, --benchmark-duration or --stages is required'],
    [['--request-count', '1', '--run-id', '../up'], "--run-id is '../up' and must be"],
    [['--request-count', '1', '--api-key-env', 'LLMBENCH_TEST_NO_SUCH_KEY'], 'LLMBENCH_TEST_NO_SUCH_KEY is not set'],
  ])('%j', async (flags, complaint) => {
    const { code, stdout, stderr } = await llmbench(...runArgs(...flags));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(lastLine(stderr)).toContain(complaint);
    expect(await runNames()).toEqual([]);
  });

  test('an address that is none of ours', async () => {
    const { code, stderr } = await llmbench(...runArgsAt('ftp://host', '--request-count', '1'));
    expect(code).toBe(2);
    expect(lastLine(stderr)).toContain("the URL's scheme is ftp: only http and https are supported");
    expect(await runNames()).toEqual([]);
  });

  test('a large load on a server elsewhere without --yes', async () => {
    const load = ['--concurrency', '65', '--request-count', '1'];
    const { code, stderr } = await llmbench(...runArgsAt('http://192.0.2.1:8000', ...load));
    expect(code).toBe(2);
    expect(lastLine(stderr)).toContain('--yes');
  });

  test('a busy metrics port', async () => {
    const { port } = new URL(simulator.url);
    const { code, stderr } = await llmbench(...runArgs('--request-count', '1', '--metrics-port', port));
    expect(code).toBe(2);
    expect(lastLine(stderr)).toContain('is in use');
    expect(await runNames()).toEqual([]);
  });
});

describe('a server that cannot be benchmarked: exit 1, one line that says what to do, no run directory', () => {
  test('nothing listens', async () => {
    const { code, stderr } = await llmbench(
      ...runArgsAt(`http://127.0.0.1:${await closedPort()}`, '--request-count', '1'),
    );
    expect(code).toBe(1);
    expect(lastLine(stderr)).toContain('connection refused');
    expect(await runNames()).toEqual([]);
  });

  test('it has no such model, and its models are named', async () => {
    const { code, stderr } = await llmbench(...runArgs('--model', 'other', '--request-count', '1'));
    expect(code).toBe(1);
    expect(lastLine(stderr)).toContain('the server has: sim-model');
    expect(await runNames()).toEqual([]);
  });

  test('it answers rubbish', async () => {
    const rubbish = createServer((_, response) => response.end('<html>hello</html>'));
    await new Promise<void>((resolve) => rubbish.listen(0, '127.0.0.1', resolve));
    const { port } = rubbish.address() as AddressInfo;
    const { code, stderr } = await llmbench(...runArgsAt(`http://127.0.0.1:${port}`, '--request-count', '1'));
    rubbish.close();
    expect(code).toBe(1);
    expect(lastLine(stderr)).toContain('not a stream');
    expect(await runNames()).toEqual([]);
  });
});

describe('a run that is ended early is kept', () => {
  const long = ['--benchmark-duration', '60', '--metrics-port', '0', '--osl', '40'];

  test('Ctrl-C once: requests under way are finished, exit 130', async () => {
    const { child, ended, said } = start(runArgs(...long));
    await said('live metrics at');
    await requestsWereSent();
    child.kill('SIGINT');
    const { code } = await ended;
    expect(code).toBe(130);
    const [name = ''] = await runNames();
    const result = JSON.parse(await readFile(join(runsDir, name, 'result.json'), 'utf8')) as ResultFile;
    expect(result).toMatchObject({ status: 'aborted', requests: { error: 0, cancelled: 0 } });
    expect(result.requests.ok).toBeGreaterThan(0);
  });

  test('Ctrl-C twice: requests under way are cancelled, exit 130', async () => {
    const { child, ended, said } = start(runArgs(...long, '--osl', '4000'));
    await said('live metrics at');
    await requestsWereSent();
    child.kill('SIGINT');
    await said('stopping');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    const [name = ''] = await runNames();
    const result = JSON.parse(await readFile(join(runsDir, name, 'result.json'), 'utf8')) as ResultFile;
    expect(result).toMatchObject({ status: 'aborted', requests: { ok: 0, cancelled: 2 } });
  });

  test('killed: the next command finishes it, once', async () => {
    const { child, ended, said } = start(runArgs(...long));
    await said('live metrics at');
    await requestsWereSent();
    child.kill('SIGKILL');
    await ended;
    expect(await runNames()).toEqual([]);
    const first = await llmbench('runs', '--runs-dir', runsDir);
    expect(first.stderr).toMatch(/recover|finished/);
    expect(first.stdout).toContain('aborted');
    const [name = ''] = await runNames();
    expect(await runFile(name)).toMatchObject({ status: 'aborted', recovered: true });
    // Its report is that of a run that ended by itself: the same page is made of it again.
    const report = join(runsDir, name, 'report.html');
    const written = await readFile(report, 'utf8');
    expect(written).toContain(name);
    await llmbench('report', name, '--runs-dir', runsDir);
    expect(await readFile(report, 'utf8')).toBe(written);
    const second = await llmbench('runs', '--runs-dir', runsDir);
    expect({ ...second }).toEqual({ ...first, stderr: '' });
  });
});

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

/** Until requests of the measure phase are in the server: two in flight, or some served. */
async function requestsWereSent(): Promise<void> {
  await until(async () => {
    const page = await (await fetch(simulator.metricsUrl)).text();
    return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(page)?.[1]) >= 2;
  });
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
