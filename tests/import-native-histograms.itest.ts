import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DistributionResult, ScalarResult } from '../core/run/result.ts';
import { delimited, message, PROTOBUF, text, varintField } from '../core/exposition/protobuf/testing/wire-writer.ts';
import { percentile } from '../core/stats/percentiles.ts';
import { until } from '../core/testing/until.ts';
import { metricsServer, type MetricsServer } from '../exporter/servers/testing/metrics-server.ts';
import { readResultFile } from '../exporter/store/sealed/read-run-files.ts';
import { describeWithEachPrometheus, describeWithPrometheusMajor } from '../prometheus/testing/describe-prometheus.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { llmbench } from './llmbench.ts';

const TTFT = 'vllm:time_to_first_token_seconds';
const NATIVE = ['--enable-feature=native-histograms'];

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../core/exposition/protobuf/fixtures/${name}`, import.meta.url));
/** What client_golang observed: 40 values before each of its three pages, the last of a coarser schema. */
const VALUES = JSON.parse(new TextDecoder().decode(fixture('limited-values.json'))) as number[];
const NAME_FIELD_BYTES = 'latency_seconds'.length + 2;

/** A page of client_golang under the name of vLLM's family, with its labels. */
function pageOf(name: string): Uint8Array {
  const bytes = [...fixture(name)];
  // After the length of the message, of one or two bytes, its first field is the name.
  const begin = (bytes[0] ?? 0) < 128 ? 1 : 2;
  return Uint8Array.from(delimited([...text(1, TTFT), ...bytes.slice(begin + NAME_FIELD_BYTES)]));
}

/** A page without observations: of a target that was there before them. */
const EMPTY = Uint8Array.from(
  delimited([...text(1, 'up_to_now'), ...varintField(3, 1), ...message(4, message(2, [9, 0, 0, 0, 0, 0, 0, 0, 0]))]),
);

await describeWithEachPrometheus('native histograms that Prometheus scraped', (programs) => {
  let folder: string;
  let prometheus: PrometheusServer;
  const pages: Uint8Array[] = [pageOf('limited-1.pb'), pageOf('limited-1.pb')];
  const servers: MetricsServer[] = [];
  let from: string;
  let to: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-native-'));
    for (const place of [0, 1]) {
      servers.push(
        await metricsServer((_, response) => response.writeHead(200, { 'content-type': PROTOBUF }).end(pages[place])),
      );
    }
    prometheus = await prometheusOf(
      folder,
      programs,
      servers.map(({ port }) => port),
    );
    await recorded([40, 40]);
    from = new Date().toISOString();
    pages[0] = pageOf('limited-2.pb');
    pages[1] = pageOf('limited-2.pb');
    await recorded([80, 80]);
    // The first becomes coarser, and the second starts anew.
    pages[0] = pageOf('limited-3.pb');
    pages[1] = EMPTY;
    await recorded([120]);
    pages[1] = pageOf('limited-1.pb');
    await recorded([120, 40]);
    to = new Date().toISOString();
  });

  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all(servers.map((server) => server.close()));
    await rm(folder, { recursive: true, force: true });
  });

  /** Waits until Prometheus has these counts of the servers. */
  const recorded = (counts: readonly number[]): Promise<unknown> =>
    until(async () => {
      const found = await Promise.all(
        servers.map(({ port }) =>
          valueOf(prometheus, `histogram_count({__name__="${TTFT}",instance="127.0.0.1:${port}"})`),
        ),
      );
      return found.filter((count) => count !== null).join() === counts.join();
    });

  test('are the exact counts and mean of the window, through a coarser schema and a restart', async () => {
    const result = await importedResult(folder, prometheus, [from, to]);
    const values = [...VALUES.slice(40, 120), ...VALUES.slice(40, 80), ...VALUES.slice(0, 40)];
    const ttft = timeToFirstToken(result.measures);
    expect(ttft.n).toBe(values.length);
    expect(ttft.mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 9);
    const sorted = Float64Array.from(values).sort();
    for (const [name, q] of [
      ['p50', 0.5],
      ['p90', 0.9],
      ['p99', 0.99],
    ] as const) {
      const [low, high] = ttft.percentiles[name].bounds ?? [NaN, NaN];
      const exact = percentile(sorted, q);
      expect(low).toBeLessThanOrEqual(exact);
      expect(high).toBeGreaterThanOrEqual(exact);
      // Buckets of schema 1 reach to √2 times their beginning, and a rank may lie between two of them.
      expect(high / low).toBeLessThan(8);
    }
  });
});

await describeWithPrometheusMajor('3', 'classic histograms that Prometheus converts', (programs) => {
  const BOUNDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5];
  /** Of the second server only the buckets around 1 s have observations, which could be those of a schema. */
  const BEFORE = [[0.003, 0.03], [0.9]];
  const SINCE = [
    [0.004, 0.015, 0.07, 0.3, 0.6, 30],
    [0.8, 0.95, 2],
  ];
  let folder: string;
  let prometheus: PrometheusServer;
  const observed = BEFORE.map((values) => [...values]);
  const servers: MetricsServer[] = [];
  let from: string;
  let to: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-converted-'));
    for (const own of observed) {
      servers.push(
        await metricsServer((_, response) =>
          response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(classicPage(BOUNDS, own)),
        ),
      );
    }
    prometheus = await prometheusOf(
      folder,
      programs,
      servers.map(({ port }) => port),
      ', convert_classic_histograms_to_nhcb: true',
    );
    await recorded(3);
    from = new Date().toISOString();
    SINCE.forEach((values, i) => observed[i]?.push(...values));
    await recorded(12);
    to = new Date().toISOString();
  });

  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all(servers.map((server) => server.close()));
    await rm(folder, { recursive: true, force: true });
  });

  const recorded = (count: number): Promise<unknown> =>
    until(async () => (await valueOf(prometheus, `sum(histogram_count({__name__="${TTFT}"}))`)) === count);

  test('are read by the bounds of the buckets with observations', async () => {
    expect(await valueOf(prometheus, `count({__name__="${TTFT}_bucket"})`)).toBeNull();
    const ttft = timeToFirstToken((await importedResult(folder, prometheus, [from, to])).measures);
    const values = SINCE.flat();
    expect(ttft.n).toBe(values.length);
    expect(ttft.mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 9);
    // Of 9 values the fifth is 0.6, in the bucket from 0.5 to 0.75.
    expect(ttft.percentiles.p50.bounds).toEqual([0.5, 0.75]);
    // The largest is above the last bound.
    expect(ttft.percentiles.p99.bounds).toBeNull();
  });
});

async function prometheusOf(
  folder: string,
  programs: Parameters<typeof startPrometheus>[0]['programs'],
  ports: readonly number[],
  settings = '',
): Promise<PrometheusServer> {
  const configFile = join(folder, 'prometheus.yml');
  const targets = ports.map((port) => `'127.0.0.1:${port}'`).join(', ');
  await writeFile(
    configFile,
    `global: {scrape_interval: 1s${settings}}\nscrape_configs: [{job_name: vllm, static_configs: [{targets: [${targets}]}]}]\n`,
  );
  return startPrometheus({ programs, configFile, dataFolder: join(folder, 'data'), flags: NATIVE });
}

/** The value of a query of one number; null: none. */
async function valueOf({ url }: PrometheusServer, query: string): Promise<number | null> {
  const answered = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await answered.json()) as { data: { result: { value: [number, string] }[] } };
  const value = data.result[0]?.value[1];
  return value === undefined ? null : Number(value);
}

async function importedResult(folder: string, { url }: PrometheusServer, [from, to]: readonly [string, string]) {
  const { code, stdout, stderr } = await llmbench(
    ...['import', '--prometheus', url, '--match', 'job="vllm"', '--from', from, '--to', to],
    ...['--runs-dir', join(folder, 'runs'), '--json'],
  );
  expect([code, stderr]).toEqual([0, '']);
  return readResultFile(join(folder, 'runs', (JSON.parse(stdout) as { run_id: string }).run_id));
}

function timeToFirstToken(measures: readonly (DistributionResult | ScalarResult)[]): DistributionResult {
  return measures.find(({ measure }) => measure === 'time_to_first_token') as DistributionResult;
}

function classicPage(bounds: readonly number[], values: readonly number[]): string {
  const below = (bound: number): number => values.filter((value) => value <= bound).length;
  const buckets = [...bounds, Infinity].map(
    (bound) => `${TTFT}_bucket{le="${bound === Infinity ? '+Inf' : bound}"} ${below(bound)}\n`,
  );
  const sum = values.reduce((all, value) => all + value, 0);
  return `# TYPE ${TTFT} histogram\n${buckets.join('')}${TTFT}_sum ${sum}\n${TTFT}_count ${values.length}\n`;
}
