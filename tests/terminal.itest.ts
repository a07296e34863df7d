import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startSimulator } from '../simulator/main.ts';
import { atTerminal, hasTerminal } from './pseudo-terminal.ts';

const withTerminal = hasTerminal ? test : test.skip;

let simulator: Awaited<ReturnType<typeof startSimulator>>;
let runsDir: string;

beforeAll(async () => {
  simulator = await startSimulator({ system: 'vllm', port: 0, model: 'sim-model', seed: 1 });
});
afterAll(() => simulator.close());
beforeEach(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-terminal-'));
});
afterEach(() => rm(runsDir, { recursive: true, force: true }));

const runArgs = (...more: string[]): string[] => {
  const target = ['--url', simulator.url, '--model', 'sim-model', '--runs-dir', runsDir];
  return ['run', ...target, '--concurrency', '2', '--isl', '16', ...more];
};

const STOPPING = 'stopping: waiting for the requests in flight; press Ctrl-C again to cancel them';

withTerminal(
  'Ctrl-C at a terminal (requires script of util-linux): its message stays above the progress, which leaves nothing behind',
  async () => {
    const run = atTerminal(runArgs('--osl', '8000', '--request-count', '9'), 80);
    await run.shown('2 in flight', 2);
    run.type('\x03');
    await run.shown(STOPPING);
    await run.shown('TTFT     p50', 8);
    run.type('\x03');
    const { code, screen } = await run.ended;
    expect(code).toBe(130);
    const from = screen.indexOf(STOPPING);
    expect(screen[from + 1]).toBe('');
    expect(screen[from + 2]).toMatch(/^run {9}\S+ {2}aborted$/);
    expect(screen.filter((line) => /\^C|░|in flight ·|^(TTFT|ITL) {3,}p50|^last \d/.test(line))).toEqual([]);
  },
);

withTerminal('the first lines are broken between words (requires script of util-linux)', async () => {
  const { code, screen } = await atTerminal(runArgs('--osl', '8', '--request-count', '2'), 60).ended;
  expect(code).toBe(0);
  const text = screen.join(' ').replace(/ +/g, ' ');
  expect(text).toContain('live metrics are not served, so Prometheus cannot scrape this run while it lasts');
  expect(Math.max(...screen.map((line) => line.length))).toBeLessThanOrEqual(60);
});
