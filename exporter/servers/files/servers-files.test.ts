import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { serversFile } from './servers-file.ts';
import { sampleRows, writeServersParquet } from './servers-parquet.ts';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true });
});

const ZERO_NS = 1_795_279_610_000_000_000n;
const page = (requests: number, kv: number, le: readonly [number, number]): string =>
  [
    '# HELP vllm:request_success_total Count of successfully processed requests.',
    '# TYPE vllm:request_success_total counter',
    `vllm:request_success_total{model_name="m"} ${requests}`,
    '# TYPE vllm:kv_cache_usage_perc gauge',
    `vllm:kv_cache_usage_perc{model_name="m"} ${kv}`,
    '# TYPE vllm:time_to_first_token_seconds histogram',
    `vllm:time_to_first_token_seconds_bucket{model_name="m",le="0.5"} ${le[0]}`,
    `vllm:time_to_first_token_seconds_bucket{model_name="m",le="+Inf"} ${le[1]}`,
    `vllm:time_to_first_token_seconds_sum{model_name="m"} ${le[1] / 4}`,
    `vllm:time_to_first_token_seconds_count{model_name="m"} ${le[1]}`,
  ].join('\n');

const collection = (slice_ns: number | null = null) => {
  const pages = pagesOf(page(1, 0.5, [1, 1]), page(1, 0.5, [1, 1]), null, page(5, 0.25, [4, 5]), page(9, 0.25, [6, 9]));
  return collectionOfStores(new Map([['http://h:8000/metrics', replay(pages)]]), {
    zeroWall_ns: ZERO_NS,
    window: { start_ns: 0, end_ns: 4e9 },
    definitions: 'llmbench',
    slice_ns,
  });
};

describe('servers.json', () => {
  test('units come from the catalog: the cache usage is a ratio although its name says percent', () => {
    const { series, targets, window } = serversFile(collection(), 'r');
    expect(window).toEqual({ start: '2026-11-21T16:46:50.000Z', end: '2026-11-21T16:46:54.000Z', seconds: 4 });
    expect(targets).toMatchObject([{ target: 'http://h:8000/metrics', scrapes: 4, failed_scrapes: 1 }]);
    const [kv, requests, ttft] = series;
    expect(kv).toMatchObject({
      family: 'vllm:kv_cache_usage_perc',
      unit: 'ratio',
      type: 'gauge',
      labels: { model_name: 'm' },
    });
    expect(requests).toMatchObject({
      unit: 'requests',
      statistics: { kind: 'counter', increase: 8, rate_per_second: 2 },
    });
    expect(ttft).toMatchObject({
      unit: 'seconds',
      per: 'request',
      statistics: {
        kind: 'histogram',
        count: 8,
        sum: 2,
        mean: 0.25,
        buckets: [
          ['0.5', 5],
          ['+Inf', 8],
        ],
      },
    });
  });

  test('a percentile has an estimate, bounds, and bounds narrowed by the sum', () => {
    const ttft = serversFile(collection(), null).series[2]?.statistics;
    if (ttft?.kind !== 'histogram') throw new Error('no histogram');
    // 3 of 8 values are above 0.5 and all add up to 2: the largest is at most 2 - 2 * 0.5.
    expect(ttft.percentiles?.p99).toMatchObject({ estimate: 0.5, bounds: [0.5, null] });
    expect(ttft.percentiles?.p99.bounds_by_sum?.[1]).toBeCloseTo(1, 6);
    expect(ttft.percentiles?.p25).toMatchObject({ estimate: 0.2, bounds: [0, 0.5] });
  });

  test('a gauge is weighted by time and reports its longest gap', () => {
    const kv = serversFile(collection(), null).series[0]?.statistics;
    expect(kv).toMatchObject({ kind: 'gauge', min: 0.25, max: 0.5, n: 4, longest_gap_seconds: 2 });
    // 0.5 for three seconds (a gap of two intervals is bridged), 0.25 for one.
    expect(kv?.kind === 'gauge' && kv.mean).toBeCloseTo((3 * 0.5 + 0.25) / 4, 12);
  });

  test('slices: each has its own statistics, the last one is marked as incomplete', () => {
    const requests = serversFile(collection(3e9), null).series[1];
    expect(requests?.slices).toMatchObject([
      { start: '2026-11-21T16:46:50.000Z', complete: true, statistics: { increase: 4 } },
      { end: '2026-11-21T16:46:54.000Z', complete: false, statistics: { increase: 4, rate_per_second: 4 } },
    ]);
  });
});

test('a gauge is not held over a gap of more than three intervals', () => {
  const gauge = (value: number): string => `# TYPE g gauge\ng ${value}`;
  const store = replay(pagesOf(gauge(1), gauge(1), null, null, null, gauge(5), gauge(5)));
  const file = serversFile(
    collectionOfStores(new Map([['http://h/metrics', store]]), {
      zeroWall_ns: ZERO_NS,
      window: { start_ns: 0, end_ns: 6e9 },
      definitions: 'llmbench',
      slice_ns: null,
    }),
    null,
  );
  expect(file.series[0]?.statistics).toMatchObject({ mean: 3, n: 4, longest_gap_seconds: 4 });
});

test.each([
  ['llmbench', null],
  ['llmbench', 3e9],
  ['aiperf', 3e9],
] as const)('servers.json matches its schema: %s, slices %s', async (definitions, slice_ns) => {
  const schema = JSON.parse(
    await readFile(new URL('../../../schemas/servers.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, validateFormats: false });
  const valid = ajv.compile(schema);
  const file: unknown = JSON.parse(JSON.stringify(serversFile({ ...collection(slice_ns), definitions }, 'r')));
  expect(valid(file) ? [] : valid.errors).toEqual([]);
  expect(valid({ ...(file as object), series: [{}] })).toBe(false);
});

describe('servers.parquet', () => {
  test('holds each change, the first and the last scrape, and one row per scrape', () => {
    const rows = [...sampleRows(collection())];
    const of = (name: string, le: string | null = null) =>
      rows
        .filter((row) => row.name === name && row.le === le)
        .map(({ time_ns, value }) => [Number(time_ns - ZERO_NS) / 1e9, value]);
    expect(of('vllm:kv_cache_usage_perc')).toEqual([
      [0, 0.5],
      [3, 0.25],
      [4, 0.25],
    ]);
    expect(of('vllm:request_success_total')).toEqual([
      [0, 1],
      [3, 5],
      [4, 9],
    ]);
    expect(of('vllm:time_to_first_token_seconds_bucket', '0.5')).toEqual([
      [0, 1],
      [3, 4],
      [4, 6],
    ]);
    expect(of('vllm:time_to_first_token_seconds_count')).toEqual([
      [0, 1],
      [3, 5],
      [4, 9],
    ]);
    expect(of('up')).toEqual([
      [0, 1],
      [1, 1],
      [2, 0],
      [3, 1],
      [4, 1],
    ]);
  });

  test('reading it back gives what was written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'servers-'));
    directories.push(directory);
    const path = join(directory, 'servers.parquet');
    await writeServersParquet(path, collection());
    const file = await asyncBufferFromFile(path);
    const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
    expect(await parquetReadObjects({ file, compressors })).toEqual([...sampleRows(collection())]);
  });
});
