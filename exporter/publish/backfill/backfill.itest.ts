import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { describeWithPrometheus } from '../../../prometheus/testing/describe-prometheus.ts';
import { start } from '../../../tests/llmbench.ts';
import { startSimulator } from '../../../simulator/main.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { resultSamples } from '../result-samples.ts';
import { PrometheusReceiver } from '../testing/prometheus-receiver.ts';

const execute = promisify(execFile);
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function temporary(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `llmbench-${name}-`));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Two finished runs. */
async function runs(): Promise<{ readonly folder: string; readonly results: readonly ResultFile[] }> {
  const folder = await temporary('backfill-runs');
  const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };
  const simulator = await startSimulator({ system: 'vllm', model: 'm', engine });
  cleanUp.push(() => simulator.close());
  const results: ResultFile[] = [];
  for (let i = 0; i < 2; i++) {
    const args = ['run', '--url', simulator.url, '--model', 'm', '--runs-dir', folder, '--osl', '8', '--isl', '5'];
    const { stdout } = await start([...args, '--request-count', '20', '--json']).ended;
    results.push(JSON.parse(stdout) as ResultFile);
  }
  return { folder, results };
}

async function expectResults(prometheus: PrometheusReceiver, results: readonly ResultFile[]): Promise<void> {
  for (const result of results) {
    const { run_id, window } = result;
    const later = Date.parse(window.end ?? '') + 60_000;
    for (const { unit, measure, stat, value } of resultSamples(result)) {
      const [found] = await prometheus.query(
        `llmbench_result_${unit}{run_id="${run_id}",measure="${measure}",stat="${stat}"}[1h]`,
        later,
      );
      const [at, text] = found?.values?.[0] ?? [];
      expect({ measure, stat, at, value: Number(text) }).toEqual({
        ...{ measure, stat, value },
        at: Date.parse(window.end ?? '') / 1000,
      });
    }
    // The query that draws the regions of the dashboards.
    const active = `llmbench_run_phase{run_id="${run_id}",phase="measure"} == 1`;
    const middle = (Date.parse(window.start ?? '') + Date.parse(window.end ?? '')) / 2;
    expect(await prometheus.query(active, middle)).toHaveLength(1);
    expect(await prometheus.query(active, Date.parse(window.end ?? '') + 5_000)).toEqual([]);
    const name = 'llmbench_result_request_latency_seconds_count';
    const [count] = await prometheus.query(`${name}{run_id="${run_id}"}[1h]`, later);
    expect(count?.values?.map(([, text]) => text)).toEqual(['0', '20', '20']);
    const servers = await prometheus.query(
      `last_over_time({run_id="${run_id}",__name__=~"llmbench_server_.+"}[1h])`,
      later,
    );
    expect(servers.length).toBeGreaterThan(20);
  }
}

await describeWithPrometheus('backfill', (programs) => {
  test('blocks that promtool makes of the pages show what result.json says', async () => {
    const { folder, results } = await runs();
    const pages = await temporary('backfill-pages');
    const { code } = await start(['backfill', '--all', '--runs-dir', folder, '--output', `${pages}/`]).ended;
    expect(code).toBe(0);
    const data = await temporary('backfill-blocks');
    const files = await readdir(pages);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(file).toMatch(/^\d{8}T\d\d00Z\.openmetrics$/);
      expect((await readFile(join(pages, file), 'utf8')).endsWith('\n# EOF\n')).toBe(true);
      await execute(programs.promtool, ['tsdb', 'create-blocks-from', 'openmetrics', join(pages, file), data]);
    }
    const prometheus = await PrometheusReceiver.start(programs, { dataFolder: data });
    cleanUp.push(() => prometheus.stop());
    await expectResults(prometheus, results);
  });

  test('one page on standard output, and the same by remote write', async () => {
    const { folder, results } = await runs();
    const ids = results.map(({ run_id }) => run_id);
    const { stdout, code } = await start(['backfill', ...ids, '--runs-dir', folder, '--output', '-']).ended;
    expect(code).toBe(0);
    expect(stdout.match(/^# EOF$/gm)).toHaveLength(1);
    expect(stdout.match(/^# TYPE llmbench_run_info gauge$/gm)).toHaveLength(1);
    const prometheus = await PrometheusReceiver.start(programs);
    cleanUp.push(() => prometheus.stop());
    const sent = await start([
      ...['backfill', ...ids, '--runs-dir', folder, '--remote-write-url', prometheus.writeUrl, '--json'],
    ]).ended;
    expect(JSON.parse(sent.stdout)).toMatchObject({ runs: 2, refused: {}, samples_dropped: 0, samples_waiting: 0 });
    await expectResults(prometheus, results);
  });
});
