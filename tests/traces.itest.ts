import { createServer, request, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../core/testing/until.ts';
import type { RequestRecord } from '../core/run/record.ts';
import { readParquetRecords } from '../exporter/store/records/read-records.ts';
import { renderPrometheusConfig } from '../prometheus/config.ts';
import { startPrometheus, type PrometheusServer } from '../prometheus/server.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { announced, llmbench, start, type Started } from './llmbench.ts';

/** One run that Prometheus scrapes, and one that sends its metrics. */
const RUNS = ['scraped', 'pushed'] as const;
const REQUESTS = 60;

interface ExemplarSeries {
  readonly seriesLabels: Readonly<Record<string, string>>;
  readonly exemplars: readonly { readonly labels: { readonly trace_id: string }; readonly value: string }[];
}

/** A server that notes the `traceparent` of each request and passes it on. */
async function startNoting(origin: string, noted: (string | undefined)[]): Promise<Server> {
  const server = createServer((incoming, response) => {
    if (incoming.method === 'POST') noted.push(incoming.headers.traceparent as string | undefined);
    const { method, headers, url } = incoming;
    const passed = request(new URL(url ?? '/', origin), { method: method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

await describeWithPrometheus('traces of requests', (programs) => {
  let folder: string;
  let noting: Server;
  let prometheus: PrometheusServer;
  const noted: (string | undefined)[] = [];
  const records = { scraped: [] as RequestRecord[], pushed: [] as RequestRecord[] };
  const started: Started[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-traces-'));
    const runsDir = join(folder, 'runs');
    const simulator = await ready<{ url: string }>(['simulate', '--port', '0', '--json']);
    const serve = await ready<{ url: string }>(['serve', '--runs-dir', runsDir, '--port', '0', '--json']);
    noting = await startNoting(simulator.url, noted);
    const configFile = join(folder, 'prometheus.yml');
    await writeFile(configFile, renderPrometheusConfig({ exporterAddress: new URL(serve.url).host, ruleFiles: [] }));
    prometheus = await startPrometheus({
      ...{ programs, configFile, dataFolder: join(folder, 'data') },
      flags: ['--enable-feature=exemplar-storage', '--web.enable-remote-write-receiver'],
    });
    const writeUrl = `${prometheus.url}/api/v1/write`;
    for (const run of RUNS) {
      const { code, stderr } = await llmbench(
        ...['run', '--url', `http://127.0.0.1:${(noting.address() as AddressInfo).port}`, '--model', 'sim-model'],
        ...['--runs-dir', runsDir, '--run-id', run, '--isl', '16', '--osl', '4', '--concurrency', '4'],
        ...['--request-count', String(REQUESTS), '--trace-sample-ratio', '0.5'],
        ...(run === 'pushed' ? ['--remote-write-url', writeUrl, '--remote-write-label', 'job=pushed'] : []),
      );
      if (code !== 0) throw new Error(stderr);
      const file = join(runsDir, run, 'records', '0.parquet');
      for await (const record of readParquetRecords(file)) records[run].push(record);
    }
  });

  afterAll(async () => {
    await prometheus?.stop();
    noting?.closeAllConnections();
    noting?.close();
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

  async function exemplars(query: string): Promise<readonly ExemplarSeries[]> {
    const now = Date.now() / 1000;
    const parameters = new URLSearchParams({ query, start: String(now - 600), end: String(now + 60) });
    const response = await fetch(`${prometheus.url}/api/v1/query_exemplars?${parameters.toString()}`);
    return ((await response.json()) as { data: readonly ExemplarSeries[] }).data;
  }

  test('every request has a trace of its own, half of them with the flag "sampled" and in the records', () => {
    // Requests before the load, such as the probe, have none. W3C Trace Context §3.2: version 00, trace, parent, flags.
    const headers = noted.filter((header) => header !== undefined);
    for (const header of headers) expect(header).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/);
    expect(new Set(headers.map((header) => header.split('-')[1])).size).toBe(RUNS.length * REQUESTS);
    const traces = RUNS.flatMap((run) => {
      const ofRun = records[run].flatMap(({ trace_id }) => (trace_id == null ? [] : [trace_id]));
      expect([records[run].length, ofRun.length]).toEqual([REQUESTS, REQUESTS / 2]);
      return ofRun;
    });
    const sampled = headers.filter((header) => header.endsWith('-01'));
    expect(new Set(sampled.map((header) => header.split('-')[1]))).toEqual(new Set(traces));
  });

  test.each(RUNS)('Prometheus has requests of the run that is %s as exemplars of their buckets', async (run) => {
    const query = `llmbench_request_latency_seconds_bucket{run_id="${run}"${run === 'pushed' ? ',job="pushed"' : ''}}`;
    await until(async () => (await exemplars(query)).length > 0);
    for (const series of await exemplars(query)) {
      for (const { labels, value } of series.exemplars) {
        const record = records[run].find(({ trace_id }) => trace_id === labels.trace_id);
        const latency = ((record?.last_content_ns ?? NaN) - (record?.sent_ns ?? NaN)) / 1e9;
        expect(Number(value)).toBeCloseTo(latency, 9);
        expect(latency).toBeLessThanOrEqual(Number(series.seriesLabels['le']));
      }
    }
  });
});
