import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GOOD_STREAM, scriptedServer, streamOf, type ScriptedServer } from '../../load/testing/scripted-server.ts';
import { metricsServer, page } from '../../servers/testing/metrics-server.ts';
import { until } from '../../../core/testing/until.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/llmbench.js', import.meta.url));
const FULL = '/dev/full';

let server: ScriptedServer;
let folder = '';
beforeAll(async () => {
  server = await scriptedServer((socket) => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 5));
  folder = await mkdtemp(join(tmpdir(), 'llmbench-closed-'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function start(runId: string, count: number, stdio: ['ignore', 'pipe' | number, 'pipe' | number]) {
  const argv = ['--url', server.origin, '--model', 'm', '--request-count', String(count), '--osl', '4'];
  const where = ['--runs-dir', join(folder, 'runs'), '--run-id', runId, '--no-server-metrics', '--linger', 'no'];
  return spawn(process.execPath, [PROGRAM, 'run', ...argv, ...where], { stdio });
}

const exitCode = async (child: ReturnType<typeof spawn>): Promise<unknown> => (await once(child, 'close'))[0];
const stored = async (): Promise<string[]> => readdir(join(folder, 'runs'));

(existsSync(FULL) ? describe : describe.skip)('a full disk behind', () => {
  test('stderr: the run completes and is stored', async () => {
    const full = openSync(FULL, 'w');
    const child = start('stderr-full', 3, ['ignore', 'pipe', full]);
    child.stdout?.resume();
    expect(await exitCode(child)).toBe(0);
    closeSync(full);
    expect(await stored()).toContain('stderr-full');
  });

  test('stdout: the run is stored, one line, exit code 1', async () => {
    const full = openSync(FULL, 'w');
    const child = start('stdout-full', 3, ['ignore', full, 'pipe']);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await exitCode(child)).toBe(1);
    closeSync(full);
    expect(said).toMatch(/^llmbench: stdout cannot be written: ENOSPC.*\n$/m);
    expect(said).not.toContain('    at ');
    expect(await stored()).toContain('stdout-full');
  });
});

test('stderr closed by its reader: the run completes and is stored', async () => {
  const child = start('stderr-closed', 200, ['ignore', 'pipe', 'pipe']);
  child.stdout?.resume();
  child.stderr?.once('data', () => child.stderr?.destroy());
  expect(await exitCode(child)).toBe(0);
  expect(await stored()).toContain('stderr-closed');
});

test('SIGHUP, as SIGTERM: requests in flight finish and the run is stored', async () => {
  const child = start('hung-up', 100_000, ['ignore', 'pipe', 'pipe']);
  child.stdout?.resume();
  child.stderr?.resume();
  await until(() => server.requests.length >= 220);
  child.kill('SIGHUP');
  expect(await exitCode(child)).toBe(130);
  expect(await stored()).toContain('hung-up');
});

test('SIGHUP to collect: what was collected is written', async () => {
  const metrics = await metricsServer((_, response) => page(response, 'vllm:num_requests_running 1\n'));
  const out = join(folder, 'servers');
  const argv = ['collect', '--server-metrics', metrics.origin, '--interval', '0.1', '--out', out];
  const child = spawn(process.execPath, [PROGRAM, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await until(() => metrics.asked.length > 5);
  child.kill('SIGHUP');
  expect(await exitCode(child)).toBe(0);
  expect(await readdir(out)).toEqual(['servers.json', 'servers.parquet']);
  await metrics.close();
});

test('SIGHUP to ab: its run ends in order, and no other begins', async () => {
  const runs = join(folder, 'ab');
  const servers = ['--a', server.origin, '--b', server.origin, '--model', 'm'];
  const load = ['--request-count', '100000', '--osl', '4', '--no-server-metrics', '--linger', 'no'];
  const child = spawn(process.execPath, [PROGRAM, 'ab', ...servers, ...load, '--runs-dir', runs], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  child.stderr.resume();
  const before = server.requests.length;
  await until(() => server.requests.length > before + 50);
  child.kill('SIGHUP');
  expect(await exitCode(child)).toBe(130);
  expect((await readdir(runs)).filter((name) => /^\d{8}T/.test(name))).toHaveLength(1);
});

test.each([
  ['runs export', ['runs', 'export', 'many', '--format', 'jsonl']],
  ['runs list', ['runs', 'list', '--json']],
  ['runs show', ['runs', 'show', 'many', '--json']],
])('stdout of %s closed by its reader: the command ends without a message', async (_, argv) => {
  if (!(await stored().catch((): string[] => [])).includes('many')) {
    const run = start('many', 400, ['ignore', 'pipe', 'pipe']);
    run.stdout?.resume();
    run.stderr?.resume();
    expect(await exitCode(run)).toBe(0);
  }
  const child = spawn(process.execPath, [PROGRAM, ...argv, '--runs-dir', join(folder, 'runs')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  // Before it writes: every write fails.
  child.stdout.destroy();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect([said, signal]).toEqual(['', null]);
  expect(code).toBe(0);
});

test('stdout of run closed by its reader: the run completes and is stored', async () => {
  const child = start('stdout-closed', 50, ['ignore', 'pipe', 'pipe']);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdout?.destroy();
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect([signal, said.includes('    at ')]).toEqual([null, false]);
  expect(await stored()).toContain('stdout-closed');
});
