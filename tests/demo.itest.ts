import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { start } from './llmbench.ts';

let runsDir: string;
beforeEach(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-demo-'));
});
afterEach(() => rm(runsDir, { recursive: true, force: true }));

const demo = (more: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  start(['demo', '--runs-dir', runsDir, '--benchmark-duration', '2', ...more], { env });

/** Nothing discovers the run, so it ends without waiting for a scraper. */
const WITHOUT_PROMETHEUS = { PROMETHEUS: '/nowhere/prometheus' };

/** Processes of this machine whose command line or parent is the demo's. */
function childrenOf(pid: number | undefined): string[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return rows.filter((row) => Number(row.trim().split(/\s+/)[1]) === pid || row.includes(runsDir));
}

test('--once ends by itself with the result, and leaves a run and no process', async () => {
  const { child, ended } = demo(['--once']);
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  for (const expected of [
    'time to first token (TTFT)',
    'inter-token latency (ITL)',
    'throughput',
    'error 0',
    runsDir,
  ]) {
    expect(stdout).toContain(expected);
  }
  expect((await readdir(runsDir)).filter((name) => !name.startsWith('.'))).toHaveLength(1);
  expect(childrenOf(child.pid)).toEqual([]);
});

test('without --once it serves until Ctrl-C, which leaves no process', async () => {
  const { child, ended, said } = demo([], WITHOUT_PROMETHEUS);
  await said('press Ctrl-C to stop');
  const serving = childrenOf(child.pid);
  expect(serving.length).toBeGreaterThanOrEqual(2);
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  expect(childrenOf(child.pid)).toEqual([]);
});

test('Ctrl-C while it measures ends it and keeps what was measured', async () => {
  const { child, ended, said } = demo(['--benchmark-duration', '60'], WITHOUT_PROMETHEUS);
  await said('live metrics at');
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  expect(childrenOf(child.pid)).toEqual([]);
});
