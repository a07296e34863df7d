import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import type { RunFile } from '../core/run/run.ts';
import {
  GOOD_STREAM,
  scriptedServer,
  streamOf,
  type ScriptedServer,
} from '../exporter/load/testing/scripted-server.ts';
import { llmbench, start } from './llmbench.ts';
import { until } from '../core/testing/until.ts';

const PRELOAD = new URL('../scripts/chaos/kill-at-change.ts', import.meta.url).href;
const REQUESTS = 60;
const RESPONSE_MS = 20;

let server: ScriptedServer;
let runsDir: string;
/** When each request came, by `performance.now()`. */
let times_ms: number[] = [];

beforeAll(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-clock-'));
  server = await scriptedServer((socket) => {
    times_ms.push(performance.now());
    setTimeout(() => socket.write(streamOf(GOOD_STREAM)), RESPONSE_MS);
  });
});

afterAll(async () => {
  await server.close();
  await rm(runsDir, { recursive: true });
});

const json = async <T>(runId: string, name: string): Promise<T> =>
  JSON.parse(await readFile(join(runsDir, runId, name), 'utf8')) as T;

test.each([3600, -3600])(
  'the wall clock jumps by %d s in the middle of a run: every duration is of the monotonic clock',
  async (seconds) => {
    times_ms = [];
    const runId = `jump-${seconds + 5000}`;
    const load = ['--model', 'm', '--osl', '4', '--request-count', String(REQUESTS), '--concurrency', '1'];
    const process = start(
      [
        ...['run', '--url', server.origin, ...load, '--no-server-metrics', '--linger', 'no'],
        ...['--runs-dir', runsDir, '--run-id', runId],
      ],
      {
        env: {
          NODE_OPTIONS: `--import ${PRELOAD} --disable-warning=ExperimentalWarning`,
          ...{ CHAOS_CLOCK_JUMP_SECONDS: String(seconds), CHAOS_CLOCK_JUMP_ON_SIGNAL: '1' },
        },
      },
    );
    await until(() => times_ms.length >= REQUESTS / 2);
    process.child.kill('SIGUSR2');
    const { code, stderr } = await process.ended;
    expect([code, stderr]).toEqual([0, expect.any(String)]);

    const result = await json<ResultFile>(runId, 'result.json');
    expect(result.requests).toEqual({ ok: REQUESTS, error: 0, timeout: 0, cancelled: 0 });
    // Those before are of the probe.
    const atServer_s = ((times_ms.at(-1) ?? 0) - (times_ms.at(-REQUESTS) ?? 0)) / 1000;
    expect(result.window.seconds).toBeGreaterThan(atServer_s);
    expect(result.window.seconds).toBeLessThan(atServer_s + 60);
    for (const measure of result.measures) {
      if (measure.kind !== 'distribution' || measure.unit !== 'seconds' || measure.n === 0) continue;
      expect([measure.measure, measure.min]).toEqual([measure.measure, expect.any(Number)]);
      expect(measure.min).toBeGreaterThanOrEqual(0);
      expect(measure.max).toBeLessThan(60);
    }

    const run = await json<RunFile>(runId, 'run.json');
    const measured = run.phases.find(({ phase }) => phase === 'measure');
    const length_s = (Date.parse(measured?.end ?? '') - Date.parse(measured?.start ?? '')) / 1000;
    expect(Math.abs(length_s - (result.window.seconds ?? 0))).toBeLessThan(60);
    const rows = await llmbench('runs', 'export', runId, '--format', 'jsonl', '--runs-dir', runsDir);
    expect(rows.stdout.trim().split('\n')).toHaveLength(REQUESTS);
  },
);
