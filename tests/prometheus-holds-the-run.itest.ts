import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { quantileBounds } from '../core/histogram/bounds.ts';
import { classicHistogram, total } from '../core/histogram/classic-histogram.ts';
import type { DistributionResult, ResultFile } from '../core/run/result.ts';
import type { PercentileName } from '../core/stats/percentiles.ts';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { exactQuantile, type ClientHistogram } from '../prometheus/queries.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';

const RUN_ID = 'held';
const WINDOW = '10m';
const HISTOGRAMS: readonly ClientHistogram[] = [
  'time_to_first_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'schedule_delay',
];
const QUANTILES: readonly (readonly [q: number, name: PercentileName])[] = [
  [0.5, 'p50'],
  [0.9, 'p90'],
  [0.99, 'p99'],
];

interface VectorSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** The whole slice: simulator, serve and run as processes of their own, and a real Prometheus that finds them by /sd. */
await describeWithPrometheus('a finished run in Prometheus', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  const started: Started[] = [];
  let result: ResultFile;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-slice-'));
    const runsDir = join(folder, 'runs');
    const simulator = await ready<{ url: string }>(['simulate', '--port', '0', '--json']);
    const serve = await ready<{ url: string }>(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
    const configFile = join(folder, 'prometheus.yml');
    const ruleFiles = ['rules', 'alerts'].map((rules) =>
      fileURLToPath(new URL(`../prometheus/${rules}/*.yml`, import.meta.url)),
    );
    await writeFile(configFile, renderPrometheusConfig({ exporterAddress: new URL(serve.url).host, ruleFiles }));
    prometheus = await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') });
    const load = [
      '--concurrency',
      '4',
      '--isl',
      '64',
      '--osl',
      '24',
      '--benchmark-duration',
      '9',
      '--warmup-request-count',
      '4',
    ];
    const target = ['--url', simulator.url, '--model', 'sim-model', '--runs-dir', runsDir, '--run-id', RUN_ID];
    const { code, stderr } = await llmbench('run', ...target, ...load);
    if (code !== 0) throw new Error(stderr);
    result = JSON.parse(await readFile(join(runsDir, RUN_ID, 'result.json'), 'utf8')) as ResultFile;
  });

  afterAll(async () => {
    await prometheus?.stop();
    for (const { child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function ready<T>(args: readonly string[]): Promise<T> {
    const process = start(args);
    started.push(process);
    return announced<T>(process);
  }

  async function query(expression: string): Promise<readonly VectorSample[]> {
    const url = `${prometheus.url}/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    const response = (await (await fetch(url)).json()) as { data: { result: VectorSample[] } };
    return response.data.result;
  }

  async function histogramOf(name: ClientHistogram) {
    const samples = await query(`last_over_time(llmbench_${name}_seconds_bucket{run_id="${RUN_ID}"}[${WINDOW}])`);
    return classicHistogram(samples.map(({ metric, value }) => [metric['le'] ?? '', Number(value[1])] as const));
  }

  function measured(name: string): DistributionResult {
    const found = result.measures.find(
      (m): m is DistributionResult =>
        m.kind === 'distribution' &&
        m.measure === name &&
        m.population === 'ok' &&
        (m.clock === 'sent' || name === 'schedule_delay'),
    );
    if (found === undefined) throw new Error(`no ${name} in the result`);
    return found;
  }

  test('the run went well, so that its counts can be compared', () => {
    expect(result).toMatchObject({ status: 'completed', requests: { error: 0, timeout: 0, cancelled: 0 } });
    expect(result.requests.ok).toBeGreaterThan(20);
  });

  test.each(HISTOGRAMS)('%s: not one observation was lost between the run and Prometheus', async (name) => {
    expect(total(await histogramOf(name))).toBe(measured(name).n);
  });

  test.each(HISTOGRAMS.flatMap((name) => QUANTILES.map(([q, percentile]) => ({ name, q, percentile }))))(
    '$name $percentile: estimate and exact value lie within the bounds of the buckets',
    async ({ name, q, percentile }) => {
      const bounds = quantileBounds(q, await histogramOf(name));
      const [sample] = await query(
        exactQuantile({ histogram: name, quantile: q, of: { run: RUN_ID }, window: WINDOW }),
      );
      const estimate = Number(sample?.value[1]);
      const exact = measured(name).percentiles[percentile].value ?? NaN;
      for (const value of [estimate, exact]) {
        expect(value).toBeGreaterThanOrEqual(bounds?.low ?? NaN);
        expect(value).toBeLessThanOrEqual(bounds?.high ?? NaN);
      }
    },
  );

  test("the client's ok requests and tokens are the counters'", async () => {
    const value = async (expression: string): Promise<number> => Number((await query(expression))[0]?.value[1]);
    const requests = `last_over_time(llmbench_requests_total{run_id="${RUN_ID}",phase="measure",outcome="ok"}[${WINDOW}])`;
    expect(await value(requests)).toBe(result.requests.ok);
    const output = measured('output_sequence_length');
    const tokens = `last_over_time(llmbench_output_tokens_total{run_id="${RUN_ID}",phase="measure"}[${WINDOW}])`;
    expect(await value(tokens)).toBe(Math.round((output.n ?? NaN) * (output.mean ?? NaN)));
  });
});
