import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';
import { until } from '../core/testing/until.ts';

interface VectorSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** Steps that are shorter than the discovery, and a real Prometheus that finds their common page by /sd. */
await describeWithPrometheus('a sweep of short steps in Prometheus', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  const started: Started[] = [];
  let stderr: string;
  let results: readonly ResultFile[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-sweep-'));
    const runsDir = join(folder, 'runs');
    const simulator = await ready(['simulate', '--port', '0', '--json']);
    const serve = await ready(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(configFile, renderPrometheusConfig({ exporterAddress: new URL(serve).host, ruleFiles: [] }));
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    await discoveryBegan(join(runsDir, '.serve.json'));
    const target = ['--url', simulator, '--model', 'sim-model', '--runs-dir', runsDir, '--run-id', 'sweep'];
    const load = ['--concurrency', '1,2,4', '--isl', '16', '--osl', '8', '--benchmark-duration', '1'];
    const ended = await llmbench('run', ...target, ...load);
    if (ended.code !== 0) throw new Error(ended.stderr);
    stderr = ended.stderr;
    const names = (await readdir(runsDir)).filter((name) => name.startsWith('sweep-')).sort();
    results = await Promise.all(
      names.map(async (name) => JSON.parse(await readFile(join(runsDir, name, 'result.json'), 'utf8')) as ResultFile),
    );
  });

  afterAll(async () => {
    await prometheus?.stop();
    for (const { child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a server and returns its address. */
  async function ready(args: readonly string[]): Promise<string> {
    const process = start(args);
    started.push(process);
    return (await announced(process)).url;
  }

  /** Resolves when Prometheus has requested the running runs. */
  async function discoveryBegan(presence: string): Promise<void> {
    await until(async () => {
      const { discovery_asked_at } = JSON.parse(await readFile(presence, 'utf8')) as { discovery_asked_at: unknown };
      return discovery_asked_at !== null;
    });
  }

  async function query(expression: string): Promise<readonly VectorSample[]> {
    const url = `${prometheus.url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    return ((await (await fetch(url)).json()) as { data: { result: VectorSample[] } }).data.result;
  }

  test('all steps completed', () => {
    expect(results.map(({ run_id, status }) => [run_id, status])).toEqual([
      ['sweep-s0', 'completed'],
      ['sweep-s1', 'completed'],
      ['sweep-s2', 'completed'],
    ]);
  });

  test('the command waited for its scrapers once, after the last step', () => {
    // On a machine that is slow enough the scrapers have the final values before anything has to wait for them.
    const [beforeWait = '', ...waits] = stderr.split('waiting until scrapers have fetched');
    expect(waits.length).toBeLessThanOrEqual(1);
    expect(beforeWait).toContain('run 3 of 3');
    expect(stderr).not.toMatch(/Prometheus may lack|nothing scraped/);
  });

  test('the last values of every step are those of its result', async () => {
    for (const { run_id, requests } of results) {
      const counts = await query(
        `last_over_time(llmbench_requests_total{run_id="${run_id}",phase="measure",outcome="ok"}[10m])`,
      );
      expect(counts.map(({ value }) => Number(value[1]))).toEqual([requests.ok]);
      const observed = await query(`last_over_time(llmbench_request_latency_seconds_count{run_id="${run_id}"}[10m])`);
      expect(observed.map(({ value }) => Number(value[1]))).toEqual([requests.ok]);
    }
  });

  test('every step had one publisher: the page of the command', async () => {
    const publishers = await query('count by (run_id) (last_over_time(llmbench_run_phase{phase="measure"}[10m]))');
    expect(publishers.map(({ metric, value }) => [metric['run_id'], value[1]]).sort()).toEqual(
      results.map(({ run_id }) => [run_id, '1']),
    );
    expect(await query('count(count by (instance) (last_over_time(llmbench_run_phase[10m])))')).toMatchObject([
      { value: [expect.anything(), '1'] },
    ]);
  });
});
