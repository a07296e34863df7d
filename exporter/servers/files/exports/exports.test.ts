import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { Collection } from '../../collection.ts';
import { aiperfCollection, collectionOfStores } from '../../testing/aiperf-collection.ts';
import { capturePath, captureText } from '../../../../fixtures/captures.ts';
import { pagesOf, replay } from '../../testing/replay.ts';
import { EXPORT_FORMATS } from './aiperf-view.ts';
import { writeExports } from './write-exports.ts';

const RUN = 'a-steady-c8';
const PARQUET = capturePath(`dynamo/${RUN}/aiperf-server-metrics/server_metrics_export.parquet`);
const INFO = { tool: 'llmbench 0', id: 'test' };
const directories: string[] = [];

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true });
});

let recorded: Promise<string> | null = null;

/** The files written from AIPerf's scrapes, once for all tests. */
function exportedRecording(): Promise<string> {
  return (recorded ??= exported(aiperfCollection(RUN)));
}

async function exported(collection: Collection): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'exports-'));
  directories.push(directory);
  await writeExports(directory, EXPORT_FORMATS, collection, INFO);
  return directory;
}

type Json = Record<string, unknown>;

/** Numbers equal within rounding, everything else identical; AIPerf estimates histogram percentiles differently. */
function expectSame(ours: unknown, theirs: unknown, path: string): void {
  if (typeof theirs === 'number' && typeof ours === 'number') {
    const near = Math.abs(ours - theirs) <= 1e-9 * Math.max(Math.abs(ours), Math.abs(theirs));
    if (!near) throw new Error(`${path}: ${ours} is not ${theirs}`);
  } else if (typeof theirs === 'object' && theirs !== null && typeof ours === 'object' && ours !== null) {
    const [keys, wanted] = [ours, theirs].map((of) => Object.keys(of).sort().join(' '));
    if (keys !== wanted) throw new Error(`${path}: the keys ${keys} are not ${wanted}`);
    for (const [key, value] of Object.entries(theirs)) {
      if (!key.endsWith('_estimate')) expectSame((ours as Json)[key], value, `${path}.${key}`);
    }
  } else if (ours !== theirs) throw new Error(`${path}: ${String(ours)} is not ${String(theirs)}`);
}

describe("AIPerf's files from AIPerf's scrapes", () => {
  test('JSON: the same metrics, series, statistics and slices', async () => {
    const ours = JSON.parse(
      await readFile(join(await exportedRecording(), 'server_metrics_export.json'), 'utf8'),
    ) as Json;
    const theirs = JSON.parse(captureText(`dynamo/${RUN}/aiperf-server-metrics/server_metrics_export.json.gz`)) as Json;
    expectSame(
      { ...(ours['metrics'] as Json), dynamo_frontend_detokenize_total_us: null },
      {
        ...(theirs['metrics'] as Json),
        dynamo_frontend_detokenize_total_us: null,
      },
      'metrics',
    );
    const summary = ours['summary'] as Json;
    const expected = theirs['summary'] as Json;
    expect(Object.keys(ours)).toEqual(expect.arrayContaining(Object.keys(theirs)));
    expectSame(summary['endpoint_info'], expected['endpoint_info'], 'endpoint_info');
    expect(summary['endpoints_successful']).toEqual(expected['endpoints_successful']);
    expect(summary['phase_time_ranges']).toEqual(expected['phase_time_ranges']);
    expect(String(summary['start_time'])).toMatch(/^2026-11-21T\d\d:46:50\.831466$/);
  });

  test('integer nanoseconds beyond 2^53 are written in full, buckets in order', async () => {
    const text = await readFile(join(await exportedRecording(), 'server_metrics_export.json'), 'utf8');
    expect(text).toContain('"start_ns": 1795279610831466933');
    expect(text).toMatch(/"0\.01": \d+,\s+"0\.05": \d+,\s+"0\.1": \d+,\s+"0\.5": \d+,\s+"1": \d+,\s+"5"/);
  });

  test('CSV: the same columns and rows', async () => {
    const ours = table(await readFile(join(await exportedRecording(), 'server_metrics_export.csv'), 'utf8'));
    const theirs = table(captureText(`dynamo/${RUN}/aiperf-server-metrics/server_metrics_export.csv.gz`));
    const key = (row: Record<string, string>): string =>
      JSON.stringify(
        Object.entries(row)
          .filter(([name, value]) => !/estimate$|^Unit$/.test(name) && value !== '')
          .sort(),
      );
    expect(ours.map(key).sort()).toEqual(theirs.map(key).sort());
  });

  test('JSONL: the same lines', async () => {
    const lines = (text: string): Json[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json);
    const order = (all: Json[]): Json[] =>
      all.toSorted((a, b) => String(a['timestamp_ns']).localeCompare(String(b['timestamp_ns'])));
    const ours = order(lines(await readFile(join(await exportedRecording(), 'server_metrics_export.jsonl'), 'utf8')));
    const theirs = order(lines(captureText(`dynamo/${RUN}/aiperf-server-metrics/server_metrics_export.jsonl.gz`)));
    expect(ours).toHaveLength(theirs.length);
    const bySeries = (line: Json): unknown =>
      Object.fromEntries(
        Object.entries(line['metrics'] as Record<string, { labels?: Json }[]>).map(([name, samples]) => [
          name,
          Object.fromEntries(
            samples.map(({ labels = {}, ...rest }) => [JSON.stringify(Object.entries(labels).sort()), rest]),
          ),
        ]),
      );
    for (const [i, line] of theirs.entries()) expectSame(bySeries(ours[i] ?? {}), bySeries(line), `line ${i}`);
    expect(Object.keys(ours[0] ?? {}).sort()).toEqual(Object.keys(theirs[0] ?? {}).sort());
  });

  test('Parquet: the same columns, and the same values in the window', async () => {
    const read = async (path: string): Promise<{ columns: string[]; rows: Json[] }> => {
      const file = await asyncBufferFromFile(path);
      const { schema } = await parquetMetadataAsync(file);
      return { columns: schema.slice(1).map(({ name }) => name), rows: await parquetReadObjects({ file }) };
    };
    const ours = await read(join(await exportedRecording(), 'server_metrics_export.parquet'));
    const theirs = await read(PARQUET);
    expect(ours.columns).toEqual(theirs.columns);
    const key = (row: Json): string =>
      ours.columns
        .filter((name) => !['value', 'sum', 'count', 'bucket_count', 'unit'].includes(name))
        .map((name) => `${(row[name] ?? '') as string | number | bigint}`)
        .join('|');
    const known = new Map(theirs.rows.map((row) => [key(row), row]));
    const found = ours.rows.filter((row) => known.has(key(row)));
    expect(found.length).toBeGreaterThan(30_000);
    const gauges = found.filter((row) => row['metric_type'] === 'gauge');
    expect(gauges.filter((row) => !Object.is(row['value'], known.get(key(row))?.['value']))).toEqual([]);
  });
});

describe('a small collection', () => {
  const text = (x: number): string =>
    `# HELP x_total Things, "quoted"\n# TYPE x_total counter\nx_total{a="=1+1"} ${x}\n# TYPE s summary\ns{quantile="0.5"} 1\ns_sum 1\ns_count 1\n# TYPE v_info gauge\nv_info{version="1,2"} 1\nx_uptime_seconds 5`;
  const collection = () =>
    collectionOfStores(new Map([['http://h:1/metrics', replay(pagesOf(text(1), text(4), text(9)))]]), {
      zeroWall_ns: 1_795_279_610_000_000_001n,
      window: { start_ns: 0, end_ns: 2e9 },
      definitions: 'llmbench',
      slice_ns: null,
    });

  test('our definitions under the same names; what AIPerf omits is omitted', async () => {
    const json = JSON.parse(
      await readFile(join(await exported(collection()), 'server_metrics_export.json'), 'utf8'),
    ) as {
      metrics: Json;
      statistics_definitions: string;
    };
    expect(json.statistics_definitions).toBe('llmbench');
    expect(Object.keys(json.metrics)).toEqual(['v_info', 'x']);
    expect(json.metrics['x']).toMatchObject({
      type: 'counter',
      series: [{ labels: { a: '=1+1' }, stats: { total: 8, rate: 4 } }],
    });
  });

  test('CSV: quotes are doubled, formulas are escaped, info metrics have their own section', async () => {
    const csv = await readFile(join(await exported(collection()), 'server_metrics_export.csv'), 'utf8');
    expect(csv).toContain('"Things, ""quoted"""');
    expect(csv).toContain("'=1+1");
    expect(csv).toContain('h:1,v_info,version,"1,2",\r\n');
  });

  test('CSV: GPUs that a program of this machine sampled have its name as their endpoint', async () => {
    const page = (watts: number): string =>
      `# TYPE nvidia_smi_power_draw_watts gauge\nnvidia_smi_power_draw_watts{uuid="GPU-1"} ${watts}`;
    const sampled = collectionOfStores(new Map([['nvidia-smi', replay(pagesOf(page(300), page(310)))]]), {
      zeroWall_ns: 0n,
      window: { start_ns: 0, end_ns: 1e9 },
      definitions: 'llmbench',
      slice_ns: null,
    });
    const csv = await readFile(join(await exported(sampled), 'server_metrics_export.csv'), 'utf8');
    expect(csv).toContain('\r\nnvidia-smi,gauge,nvidia_smi_power_draw_watts,');
  });

  test('nothing collected: no Parquet file, the other files have no series', async () => {
    const nothing = collectionOfStores(new Map(), {
      zeroWall_ns: 0n,
      window: { start_ns: 0, end_ns: 1 },
      definitions: 'llmbench',
      slice_ns: null,
    });
    const directory = await exported(nothing);
    expect((await readdir(directory)).sort()).toEqual(
      ['csv', 'json', 'jsonl'].map((end) => `server_metrics_export.${end}`),
    );
  });
});

/** The rows of all sections, with the names of their columns. */
function table(csv: string): Record<string, string>[] {
  const body = csv
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
  return body.split(/\r?\n\r?\n/).flatMap((section) => {
    const [head = [], ...rows] = section.trim().split(/\r?\n/).map(fields);
    return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])));
  });
}

function fields(line: string): string[] {
  return Array.from(
    line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g),
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

describe('names that objects inherit', () => {
  const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', 'toJSON', 'length'];

  test('are families and labels like any other, in every format', async () => {
    const page = (n: number): string =>
      NAMES.flatMap((name) => [
        `# TYPE ${name} gauge`,
        `${name} ${n}`,
        `# TYPE h_${name} histogram`,
        `h_${name}_bucket{${name}="x",le="1"} ${n}`,
        `h_${name}_bucket{${name}="x",le="+Inf"} ${n}`,
        `h_${name}_sum{${name}="x"} ${n}`,
        `h_${name}_count{${name}="x"} ${n}`,
        `# TYPE c_${name}_total counter`,
        `c_${name}_total{${name}="y"} ${n}`,
      ]).join('\n');
    const stores = new Map([['http://server/metrics', replay(pagesOf(page(1), page(2), page(3)))]]);
    const directory = await exported(
      collectionOfStores(stores, {
        zeroWall_ns: 0n,
        window: { start_ns: 0, end_ns: 2e9 },
        definitions: 'aiperf',
        slice_ns: null,
      }),
    );
    const lines = (await readFile(join(directory, 'server_metrics_export.jsonl'), 'utf8')).trim().split('\n');
    const json = JSON.parse(await readFile(join(directory, 'server_metrics_export.json'), 'utf8')) as { metrics: Json };
    const file = await asyncBufferFromFile(join(directory, 'server_metrics_export.parquet'));
    const rows = await parquetReadObjects({ file });
    const columns = (await parquetMetadataAsync(file)).schema.map(({ name }) => name);
    for (const name of NAMES) {
      for (const line of lines) {
        const { metrics } = JSON.parse(line) as { metrics: Record<string, { labels?: Json }[]> };
        expect(Object.getOwnPropertyDescriptor(metrics, name)?.value).toMatchObject([
          { value: expect.any(Number) as unknown },
        ]);
        expect(Object.keys(metrics[`c_${name}`]?.[0]?.labels ?? metrics[`c_${name}_total`]?.[0]?.labels ?? {})).toEqual(
          [name],
        );
      }
      expect(Object.keys(json.metrics)).toContain(name);
      const ofFamily = rows.filter(({ metric_name: metric }) => metric === `h_${name}`);
      expect(ofFamily.length).toBeGreaterThan(0);
      // The reader of this test sets the prototype of its rows.
      if (name === '__proto__') expect(columns).toContain(name);
      else for (const row of ofFamily) expect(Object.getOwnPropertyDescriptor(row, name)?.value).toBe('x');
    }
  });
});
