import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { seededRandom } from '../core/stats/seeded-random.ts';
import { readBaseline } from '../exporter/judge/baseline.ts';
import { storeJudgedRun } from '../exporter/judge/testing/judged-run.ts';
import { readVerdicts } from '../exporter/judge/verdict-log.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { llmbench, start } from './llmbench.ts';

const SCENARIO = 'nightly';
const RUNS = 12;

let runsDir: string;
const runId = (i: number): string => `run-${String(i).padStart(2, '0')}`;

beforeEach(async () => {
  runsDir = join(await mkdtemp(join(tmpdir(), 'llmbench-judge-crash-')), 'runs');
  const { store } = await openStore(runsDir);
  for (let i = 0; i < RUNS; i++) await storeJudgedRun(store, runId(i), i, { ttft: 0.1 + 0.0001 * (i % 5) });
});

afterEach(() => rm(join(runsDir, '..'), { recursive: true }));

/** Kills the command after this time with SIGKILL; whether it had ended well before. */
async function confirmedBefore(delay_ms: number, ...argv: readonly string[]): Promise<boolean> {
  const { child, ended } = start([...argv, '--runs-dir', runsDir]);
  const timer = setTimeout(() => child.kill('SIGKILL'), delay_ms);
  const { code } = await ended;
  clearTimeout(timer);
  return code === 0;
}

/** Random times from 0 to somewhat more than the command takes; the first kills at once, the last never. */
function delays(count: number, duration_ms: number): readonly number[] {
  const random = seededRandom(1);
  const between = Array.from({ length: count - 2 }, () => random() * 1.2 * duration_ms);
  return [0, ...between, 60_000];
}

async function duration_ms(...argv: readonly string[]): Promise<number> {
  const from = performance.now();
  expect((await llmbench(...argv, '--runs-dir', runsDir)).code).toBe(0);
  return performance.now() - from;
}

test('baseline accept killed at random moments: what was confirmed is there, and the baseline stays readable', async () => {
  const accept = (i: number): string[] => ['baseline', 'accept', runId(i)];
  const took_ms = await duration_ms(...accept(0));
  const confirmed = [runId(0)];
  for (const [i, delay_ms] of delays(RUNS - 1, took_ms).entries()) {
    if (await confirmedBefore(delay_ms, ...accept(i + 1))) confirmed.push(runId(i + 1));
    const { accepted, damagedLines } = await readBaseline(runsDir, SCENARIO);
    expect(accepted).toEqual(expect.arrayContaining(confirmed));
    expect(damagedLines).toEqual([]);
  }
  expect(confirmed).toContain(runId(RUNS - 1));
  expect(confirmed).not.toContain(runId(1));
});

test('check --accept-passed killed at random moments: each confirmed check has its verdict', async () => {
  for (let i = 0; i < 6; i++)
    expect((await llmbench('baseline', 'accept', runId(i), '--runs-dir', runsDir)).code).toBe(0);
  const check = ['check', runId(RUNS - 1), '--accept-passed'];
  const took_ms = await duration_ms(...check);
  let confirmed = 1;
  for (const delay_ms of delays(8, took_ms)) {
    if (await confirmedBefore(delay_ms, ...check)) confirmed++;
    const { entries, damagedLines } = await readVerdicts(runsDir, SCENARIO);
    expect(entries.length).toBeGreaterThanOrEqual(confirmed);
    expect(entries.every(({ run_ids }) => run_ids.includes(runId(RUNS - 1)))).toBe(true);
    expect(damagedLines).toEqual([]);
  }
  expect(confirmed).toBeGreaterThanOrEqual(2);
});

test('checks and changes of the baseline at once: each leaves its line, whole', async () => {
  const own = ['--runs-dir', runsDir];
  const checks = [8, 9, 10].map((i) => llmbench('check', runId(i), ...own));
  const accepts = [0, 1, 2].map((i) => llmbench('baseline', 'accept', runId(i), ...own));
  const ended = await Promise.all([...checks, ...accepts]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  const verdicts = await readVerdicts(runsDir, SCENARIO);
  expect(verdicts.damagedLines).toEqual([]);
  expect(verdicts.entries.flatMap(({ run_ids }) => run_ids).sort()).toEqual([8, 9, 10].map(runId));
  const baseline = await readBaseline(runsDir, SCENARIO);
  expect(baseline.damagedLines).toEqual([]);
  expect([...baseline.accepted].sort()).toEqual([0, 1, 2].map(runId));
});
