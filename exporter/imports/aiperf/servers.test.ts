import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { capturePath } from '../../../fixtures/captures.ts';
import type { ServersFile } from '../../../core/run/servers-file.ts';
import { importedRun, importInto, inTemporaryFolder } from '../testing/import-folder.ts';

const CLIENT = capturePath('dynamo/a-steady-c8/aiperf/');
/** AIPerf's own scrapes of the same run. */
const SERVERS = capturePath('dynamo/a-steady-c8/aiperf-server-metrics/');
const PARQUET = join(SERVERS, 'server_metrics_export.parquet');

interface Found {
  readonly imported: Awaited<ReturnType<typeof importedRun>>;
  readonly servers: ServersFile;
  readonly hasSamples: boolean;
}

/** The client's files next to these of the servers. */
async function importedWith(folder: string, files: readonly string[], client = true): Promise<Found> {
  const artifacts = join(folder, 'run');
  await mkdir(artifacts);
  const names = client
    ? [join(CLIENT, 'profile_export_aiperf.json'), join(CLIENT, 'profile_export.jsonl.gz')]
    : [join(CLIENT, 'profile_export_aiperf.json')];
  for (const path of [...names, ...files]) await copyFile(path, join(artifacts, path.split('/').at(-1) ?? ''));
  const report = await importInto(join(folder, 'runs'), [artifacts]);
  const imported = await importedRun(report);
  const path = report.store.pathOf(imported.run.run_id);
  const servers = JSON.parse(await readFile(join(path, 'servers.json'), 'utf8')) as ServersFile;
  return { imported, servers, hasSamples: existsSync(join(path, 'servers.parquet')) };
}

/** An empty label is none, as in Prometheus. */
const sorted = (labels: object): unknown =>
  Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** What a family gained over all its series with these labels. */
function gained({ servers }: Found, family: string, labels: Readonly<Record<string, string>> = {}): number {
  const series = servers.series.filter(
    (each) => each.family === family && Object.entries(labels).every(([name, value]) => each.labels[name] === value),
  );
  if (series.length === 0) throw new Error(`no series of ${family}`);
  return series.reduce((sum, { statistics }) => {
    if (statistics?.kind === 'counter') return sum + (statistics.increase ?? NaN);
    return sum + (statistics?.kind === 'histogram' ? (statistics.count ?? NaN) : NaN);
  }, 0);
}

test('from its scrapes the run is exact, where AIPerf itself lost series that appeared late', () =>
  inTemporaryFolder(async (folder) => {
    const files = ['server_metrics_export.json.gz', 'server_metrics_export.jsonl.gz', 'server_metrics_export.csv.gz'];
    const found = await importedWith(
      folder,
      files.map((name) => join(SERVERS, name)),
    );
    // AIPerf reports 192 of 200 requests and 9,024 of 9,400 gaps.
    expect(found.imported.result.servers).toMatchObject({
      exact: true,
      requests: { family: 'dynamo_frontend_requests_total', server: 200, client: 200, difference: 0 },
    });
    expect(gained(found, 'dynamo_frontend_requests_total')).toBe(200);
    expect(gained(found, 'dynamo_frontend_output_tokens_total')).toBe(9600);
    expect(gained(found, 'dynamo_frontend_inter_token_latency_seconds')).toBe(9400);
    expect(gained(found, 'dynamo_component_requests_total', { dynamo_endpoint: 'generate' })).toBe(200);
    expect(found.servers).toMatchObject({
      definitions: 'llmbench',
      window: { start: found.imported.result.window.start },
    });
    expect(found.hasSamples).toBe(true);
    expect(found.imported.run.target.system).toBe('dynamo');
  }));

test('without records AIPerf’s own statistics are used, marked as such', () =>
  inTemporaryFolder(async (folder) => {
    const found = await importedWith(folder, [join(SERVERS, 'server_metrics_export.json.gz')], false);
    expect(found.servers.definitions).toBe('aiperf');
    const requests = found.servers.series.find(({ family }) => family === 'dynamo_frontend_requests');
    expect(requests?.statistics).toMatchObject({ kind: 'aiperf', stats: { total: 192 } });
    expect(found.hasSamples).toBe(false);
    expect(found.imported.result.servers).toMatchObject({ exact: null, requests: null });
  }));

test('from Parquet: what AIPerf kept of it', () =>
  inTemporaryFolder(async (folder) => {
    const found = await importedWith(folder, [PARQUET]);
    expect(gained(found, 'dynamo_frontend_requests_total')).toBe(192);
    expect(gained(found, 'dynamo_frontend_inter_token_latency_seconds')).toBe(9024);
    expect(found.imported.run.source?.notes.join()).toContain("the servers' figures are from Parquet");
  }));

test('from the CSV alone: the figures of the JSON, with four decimals, in the time of the records', () =>
  inTemporaryFolder(async (folder) => {
    const found = await importedWith(folder, [join(SERVERS, 'server_metrics_export.csv.gz')]);
    const { result, run } = found.imported;
    expect(found.servers).toMatchObject({ definitions: 'aiperf', window: result.window });
    expect(run.target.system).toBe('dynamo');
    expect(run.source?.notes).toContain('server values are from a CSV with four decimals');
    const json = JSON.parse(gunzipSync(await readFile(join(SERVERS, 'server_metrics_export.json.gz'))).toString()) as {
      metrics: Record<
        string,
        { series: { endpoint_url: string; labels?: object; stats: Record<string, number>; buckets?: object }[] }
      >;
    };
    const reported = Object.entries(json.metrics).flatMap(([family, { series }]) =>
      series.map((each) => ({ family, ...each })),
    );
    expect(found.servers.series).toHaveLength(reported.length);
    for (const { family, endpoint_url, labels = {}, stats, buckets } of reported) {
      const same = found.servers.series.find(
        (each) =>
          each.family === family &&
          each.target === endpoint_url &&
          JSON.stringify(sorted(each.labels)) === JSON.stringify(sorted(labels)),
      );
      if (same?.statistics?.kind !== 'aiperf') throw new Error(`no statistics of ${family}`);
      for (const [name, value] of Object.entries(stats)) {
        expect([family, name, same.statistics.stats[name]]).toEqual([family, name, expect.closeTo(value, 3)]);
      }
      if (buckets !== undefined)
        expect(same.statistics.buckets?.map(([, count]) => count)).toEqual(Object.values(buckets));
    }
  }));

test('requests of the warm-up that ended after the last scrape before the run are the client’s own', () =>
  inTemporaryFolder(async (folder) => {
    const at = (seconds: number): bigint => 1_795_279_600n * 1_000_000_000n + BigInt(Math.round(seconds * 1e9));
    const record = (phase: string, start: number, index: number): string =>
      `{"metadata":{"session_num":${index},"request_start_ns":${at(start)},"request_end_ns":${at(start + 0.5)},` +
      `"benchmark_phase":"${phase}"},"metrics":{}}`;
    const scrape = (seconds: number, count: number): string =>
      `{"endpoint_url":"http://s:8000/metrics","timestamp_ns":${at(seconds)},"endpoint_latency_ns":1000000,"metrics":` +
      `{"dynamo_frontend_requests":[{"labels":{"status":"success"},"value":${count}}]}}`;
    // Two requests of the warm-up, of which one had ended when the server was read; then three that are measured.
    const records = [
      ...[1, 2].map((start, i) => record('warmup', start, i)),
      ...[3, 4, 5].map((start, i) => record('profiling', start, 2 + i)),
    ];
    const imported = async (last: number) => {
      const artifacts = join(folder, `run-${last}`);
      await mkdir(artifacts);
      await writeFile(join(artifacts, 'profile_export.jsonl'), `${records.join('\n')}\n`);
      const scrapes = [scrape(0.5, 7), scrape(1.8, 8), scrape(3.2, 9), scrape(6, last)];
      await writeFile(join(artifacts, 'server_metrics_export.jsonl'), `${scrapes.join('\n')}\n`);
      return (await importedRun(await importInto(join(folder, `runs-${last}`), [artifacts]))).result.servers;
    };
    expect(await imported(12)).toMatchObject({
      exact: true,
      requests: { server: 4, client: 4, warmup: 1, difference: 0 },
    });
    expect(await imported(14)).toMatchObject({
      why: 'not exact: +2 requests from other clients',
      requests: { server: 6, client: 4, warmup: 1, difference: 2 },
    });
  }));

describe('GPU telemetry', () => {
  const line = (second: number, gpu: number, telemetry: object): string => {
    const at = 1_795_279_600n * 1_000_000_000n + BigInt(Math.round(second * 1e9));
    return (
      `{"timestamp_ns":${at},"dcgm_url":"http://user:pw@gpu:9400/metrics?x=1","gpu_index":${gpu},` +
      `"gpu_uuid":"GPU-${gpu}","gpu_model_name":"H100","hostname":"h","telemetry_data":${JSON.stringify(telemetry)}}`
    );
  };

  test('of two exporters under the key of 0.13, lines of one GPU after those of another: 75 W per GPU', () =>
    inTemporaryFolder(async (folder) => {
      const at = (second: number): string =>
        `"timestamp_ns":${1_795_279_600n * 1_000_000_000n + BigInt(Math.round(second * 1e9))}`;
      const of =
        (port: number, gpu: number) =>
        (second: number): string =>
          `{"gpu_index":${gpu % 2},"gpu_uuid":"GPU-${gpu}","gpu_model_name":"H100","hostname":"h","platform":"nvidia",${at(second + gpu / 100)},` +
          `"telemetry_source_url":"http://localhost:${port}/metrics","telemetry_data":` +
          `{"nvidia_power_usage":75.0,"nvidia_energy_consumption":${gpu + second * 75e-6},"nvidia_gpu_utilization":50.0}}`;
      const seconds = Array.from({ length: 31 }, (_, second) => second);
      const gpus = [of(9400, 0), of(9400, 1), of(9401, 2)];
      const lines = gpus.flatMap((line) => seconds.map(line));
      const path = join(folder, 'gpu_telemetry_export.jsonl');
      await writeFile(path, `${lines.join('\n')}\n`);
      const { result, run } = (await importedWith(folder, [path])).imported;
      const energy = result.servers?.gpu_energy ?? null;
      expect(energy?.gpus).toBe(3);
      expect(energy?.joules).toBeCloseTo(3 * 75 * (result.window.seconds ?? NaN), 3);
      for (const gpu of energy?.by_gpu ?? []) expect(gpu.watts).toBeCloseTo(75, 3);
      expect(
        result.servers !== null &&
          result.servers.targets.map(({ target, notes, restarts }) => [target, notes, restarts]),
      ).toEqual([
        ['http://localhost:9400/metrics', [], 0],
        ['http://localhost:9401/metrics', [], 0],
      ]);
      expect(run.source?.notes.join(' ')).not.toContain('telemetry_data');
    }));

  test.each([
    ['since schema 1.5', 'nvidia_energy_consumption', 'nvidia_power_usage'],
    ['before', 'energy_consumption', 'gpu_power_usage'],
  ])('under the names %s: energy of the run', (_name, energy, power) =>
    inTemporaryFolder(async (folder) => {
      // 0.0001 MJ a second and GPU: 100 W, 200 J in the two seconds from 8 to 30 s after, each.
      const seconds = Array.from({ length: 31 }, (_, second) => second);
      const lines = seconds.flatMap((second) =>
        [0, 1].map((gpu) => line(second, gpu, { [energy]: 5 + second * 1e-4, [power]: 100, novel: 1 })),
      );
      const path = join(folder, 'gpu_telemetry_export.jsonl');
      await writeFile(path, `${lines.join('\n')}\n`);
      const found = await importedWith(folder, [path]);
      const { servers } = found.imported.result;
      expect(servers).toMatchObject({ gpu_energy: { gpus: 2, source: 'energy_counter' } });
      const joules = servers?.gpu_energy?.joules ?? NaN;
      // The run took 17.65 s; the scrapes around it are up to a second and the rest of the recording away.
      expect(joules).toBeGreaterThan(2 * 100 * 17);
      expect(joules).toBeLessThan(2 * 100 * 21);
      expect(found.servers.targets.map(({ target }) => target)).toEqual(['http://gpu:9400/metrics']);
      expect(found.imported.run.source?.notes).toContain('not understood: telemetry_data.novel');
    }),
  );

  test('next to the JSON of the servers: both are kept', () =>
    inTemporaryFolder(async (folder) => {
      const lines = Array.from({ length: 31 }, (_, second) =>
        line(second, 0, { nvidia_energy_consumption: 5 + second * 1e-4 }),
      );
      const path = join(folder, 'gpu_telemetry_export.jsonl');
      await writeFile(path, `${lines.join('\n')}\n`);
      const found = await importedWith(folder, [path, join(SERVERS, 'server_metrics_export.json.gz')]);
      expect(found.imported.result.servers).toMatchObject({ gpu_energy: { gpus: 1, source: 'energy_counter' } });
      const requests = found.servers.series.find(({ family }) => family === 'dynamo_frontend_requests');
      expect(requests?.statistics).toMatchObject({ kind: 'aiperf', stats: { total: 192 } });
      expect(found.servers.targets.map(({ target }) => target)).toContain('http://gpu:9400/metrics');
      expect(found.imported.run.target.system).toBe('dynamo');
    }));
});
