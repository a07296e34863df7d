import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { RequestRecord } from '../../../core/run/record.ts';
import { Fields } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import type { ImportedRun } from '../importer.ts';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';
import { benchmarkRun, CUMULATIVE_SHARE } from './benchmark-run.ts';
import { requestsIn } from './requests.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;

interface Statistics {
  mean: number;
  count: number;
  percentiles: Record<string, number>;
}

interface Benchmark {
  start_time: number;
  end_time: number;
  config: { strategy: { type_: string } };
  metrics: Record<string, { successful: Statistics; total: Statistics }>;
  requests: Record<string, { info: { timings: Record<string, number | null>; error: string | null } }[] | null>;
}

async function benchmarks(name: string): Promise<[Benchmark, ...Benchmark[]]> {
  const report = JSON.parse(await readFile(join(FIXTURES, name), 'utf8')) as {
    benchmarks: [Benchmark, ...Benchmark[]];
  };
  return report.benchmarks;
}

function run(benchmark: unknown): ImportedRun {
  const notes = new ImportNotes();
  const facts = { version: null, schema_version: '2', benchmarks: 1 };
  const fields = new Fields(benchmark, notes);
  return benchmarkRun(fields, requestsIn(fields), 0, facts, notes);
}

async function recordsOf({ records }: ImportedRun): Promise<RequestRecord[]> {
  const all: RequestRecord[] = [];
  for await (const record of records ?? []) all.push(record);
  return all;
}

test('a report of version 2 with two benchmarks is a group of two runs', () =>
  inTemporaryFolder(async (folder) => {
    const reported = await benchmarks('v2.json');
    const all = await importInto(folder, [join(FIXTURES, 'v2.json')]);
    expect(all.report.outcomes).toMatchObject([
      { status: 'imported', tool: 'guidellm', disagreements: 0 },
      { status: 'imported', tool: 'guidellm', disagreements: 0 },
    ]);
    const runs = [await importedRun(all, 0), await importedRun(all, 1)];
    expect(runs.map(({ run: each }) => [each.step, each.comparison_key.load?.concurrency])).toEqual([
      [0, 1],
      [1, 3],
    ]);
    expect(new Set(runs.map(({ run: each }) => each.group_id)).size).toBe(1);
    for (const [index, { run: each, result, records }] of runs.entries()) {
      const metrics = reported[index]?.metrics;
      expect(each).toMatchObject({
        tool: { name: 'guidellm', version: '0.8.1' },
        target: { origin: 'http://127.0.0.1:28498' },
        comparison_key: { endpoint_type: 'chat', model: 'mock-model', streaming: true, stop: { request_count: 6 } },
      });
      expect(each.start).toMatch(/^2026-11-21T23:/);
      expect(records).toHaveLength(6);
      // By another definition: the tool goes on to the end of the response.
      const latency = metrics?.['request_latency']?.successful.mean ?? NaN;
      expect(distributionOf(result, 'request_latency').mean).not.toBeCloseTo(latency, 3);
      expect(each.source?.notes.join()).toMatch(
        new RegExp(`request_latency mean \\d+ ms \\(sent_to_end_of_answer: ${Math.round(latency * 1000)} ms\\)`),
      );
      // With six values its percentile is one of them.
      expect(each.source?.notes.join()).toMatch(
        /time_to_first_token p\d+ \S+ ms \(the tool's percentile of the same values: /,
      );
      const ttft = distributionOf(result, 'time_to_first_token');
      expect(ttft.mean).toBeCloseTo((metrics?.['time_to_first_token_ms']?.successful.mean ?? NaN) / 1000, 6);
      expect(distributionOf(result, 'inter_token_latency').definition).toBe('per_request_mean_from_usage');
      // Its TPOT includes the first token: a separate measure.
      const tpot = metrics?.['time_per_output_token_ms']?.successful;
      expect(distributionOf(result, 'time_per_output_token')).toMatchObject({
        definition: 'time_to_last_token_over_output_tokens',
        n: 48,
        mean: (tpot?.mean ?? NaN) / 1000,
      });
    }
  }));

test('turns are read where some request is a later one', async () => {
  const [benchmark] = await benchmarks('v2.json');
  const copy = JSON.parse(JSON.stringify(benchmark)) as {
    requests: { successful: { info: { turn_index: number } }[] };
  };
  expect((await recordsOf(run(copy))).map(({ turn }) => turn ?? null)).toEqual(Array<null>(6).fill(null));
  copy.requests.successful.forEach(({ info }, i) => (info.turn_index = i % 3));
  expect((await recordsOf(run(copy))).map(({ turn }) => turn).sort()).toEqual([1, 1, 2, 2, 3, 3]);
});

test('YAML gives what JSON gives', () =>
  inTemporaryFolder(async (folder) => {
    const yaml = await importedRun(await importInto(join(folder, 'a'), [join(FIXTURES, 'v2.yaml')]));
    const json = await importedRun(await importInto(join(folder, 'b'), [join(FIXTURES, 'v2.json')]));
    expect(yaml.records).toEqual(json.records);
    expect(yaml.result.measures).toEqual(json.result.measures);
  }));

test('failed requests have their reason and are in no latency', () =>
  inTemporaryFolder(async (folder) => {
    const { result, records } = await importedRun(await importInto(folder, [join(FIXTURES, 'v2-errors.json')]));
    expect(result.requests).toEqual({ ok: 9, error: 3, timeout: 0, cancelled: 0 });
    expect(result.errors).toEqual({ http_5xx: 3 });
    expect(records.find(({ outcome }) => outcome === 'error')).toMatchObject({ http_status: 500, output_tokens: null });
    expect(distributionOf(result, 'time_to_first_token').n).toBe(9);
  }));

describe('version 1', () => {
  test('is read, of a constant rate with due times', () =>
    inTemporaryFolder(async (folder) => {
      const { run: each, records } = await importedRun(await importInto(folder, [join(FIXTURES, 'v1.json')]));
      expect(each.comparison_key.load).toMatchObject({
        mode: 'request_rate',
        request_rate: 8,
        arrival_pattern: 'constant',
      });
      expect(each.comparison_key.stop.request_count).toBe(6);
      expect(each.source).toMatchObject({ format: 'guidellm-report', format_version: '1' });
      // 8 requests a second: the due times are multiples of 0.125 s apart.
      const due = records.map(({ due_ns }) => due_ns ?? NaN).sort((a, b) => a - b);
      for (const at of due) {
        const steps = (at - (due[0] ?? NaN)) / 125_000_000;
        expect(steps).toBeCloseTo(Math.round(steps), 5);
      }
      expect(new Set(due).size).toBe(6);
    }));

  // 0.6.1 also writes Python's tuples, with a tag, into YAML.
  test('with warm-up and cool-down: the measurement is the one of the tool', () =>
    inTemporaryFolder(async (folder) => {
      const all = await importInto(folder, [join(FIXTURES, 'v1-warmup.yaml')]);
      expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
      const { run: each, result, records } = await importedRun(all);
      expect(result.requests.ok).toBe(2);
      expect(records.map(({ phase }) => phase)).toEqual(['warmup', 'warmup', 'warmup', 'measure', 'measure']);
      expect(each.source?.notes).toContain('3 × requests of the cool-down, left out (first: request 5)');
    }));
});

test('a report of 0.3, which reports no version', () =>
  inTemporaryFolder(async (folder) => {
    const all = await importInto(folder, [join(FIXTURES, 'v0.json')]);
    expect(all.report.outcomes).toMatchObject([
      { status: 'imported', disagreements: 0 },
      { status: 'imported', disagreements: 0 },
    ]);
    const { run: each, result, records } = await importedRun(all, 1);
    expect(each).toMatchObject({
      step: 1,
      tool: { version: null },
      comparison_key: { endpoint_type: 'completions', model: 'mock-model', load: { concurrency: 2 } },
    });
    expect(records).toHaveLength(5);
    const [, reported] = await benchmarks('v0.json');
    expect(distributionOf(result, 'time_to_first_token').mean).toBeCloseTo(
      (reported?.metrics['time_to_first_token_ms']?.successful.mean ?? NaN) / 1000,
      6,
    );
    // (last − first) ÷ tokens, not ÷ (tokens − 1), and without the first token.
    expect(measureOf(result, 'time_per_output_token').definition).toBe('decode_duration_over_output_tokens');
  }));

describe('reports without records', () => {
  test('give the figures of the tool under its definitions', async () => {
    const [first] = await benchmarks('v2.json');
    const reported = run({ ...first, requests: { successful: [], errored: [], incomplete: [] } });
    expect(reported.records).toBeNull();
    expect(reported.start).not.toBeNull();
    const latency = reported.stated.measures.find(({ measure }) => measure === 'request_latency');
    expect(latency).toMatchObject({ definition: 'sent_to_end_of_answer', n: 6 });
    const itl = reported.stated.measures.find(({ measure }) => measure === 'inter_token_latency');
    expect(itl).toMatchObject({ definition: 'per_request_mean_weighted_by_tokens', n: 42 });
  });

  test('a sample of the requests is no source of values: only what the tool states of the whole run is one', () =>
    inTemporaryFolder(async (folder) => {
      const report = JSON.parse(await readFile(join(FIXTURES, 'v1.json'), 'utf8')) as { benchmarks: [Benchmark] };
      const [only] = report.benchmarks;
      only.requests['successful'] = only.requests['successful']?.slice(0, 2) ?? null;
      await writeFile(join(folder, 'sample.json'), JSON.stringify(report));
      const { run: each, result } = await importedRun(
        await importInto(join(folder, 'runs'), [join(folder, 'sample.json')]),
      );
      expect(result.requests.ok).toBe(6);
      expect(measureOf(result, 'request_latency')).toMatchObject({ n: 6, definition: 'sent_to_end_of_answer' });
      const { start_time: start, end_time: end } = only;
      expect(result.window.seconds).toBeCloseTo(end - start, 6);
      expect(Date.parse(result.window.start ?? '') / 1000).toBeCloseTo(start, 2);
      expect(each.phases).toEqual([{ phase: 'measure', start: result.window.start, end: result.window.end }]);
      expect(scalarOf(result, 'request_throughput').definition).toBe('ok_requests_ended_over_measurement');
      // The tool states nothing of the decode duration: what two requests give is no value of the run.
      expect(distributionOf(result, 'decode_duration')).toMatchObject({ n: null, mean: null, max: null });
      expect(scalarOf(result, 'achieved_output_ratio').value).toBeNull();
      expect(each.source?.notes).toContainEqual(
        expect.stringMatching(/^the records are a sample, 2 of 6 ok requests: only figures that the tool states/),
      );
    }));

  test('zeros over no request are no values', async () => {
    const [first] = await benchmarks('v2.json');
    const zero = { mean: 0, std_dev: 0, min: 0, max: 0, count: 0, percentiles: { p50: 0 } };
    const metrics = Object.fromEntries(
      Object.keys(first.metrics).map((name) => [name, { successful: zero, total: zero }] as const),
    );
    const reported = run({
      ...first,
      metrics: { ...metrics, request_totals: { successful: 0, errored: 6 } },
      requests: null,
    });
    expect(reported.stated.measures).toEqual([]);
    expect(reported.stated.requests).toMatchObject({ ok: 0, error: 6 });
  });
});

test('goodput carries its limits in its definition', async () => {
  const [first] = await benchmarks('v2.json');
  const good = { successful: { mean: 2, count: 6 } };
  const reported = run({
    ...first,
    config: { ...first.config, slo: { ttft_ms: 100 } },
    metrics: { ...first.metrics, request_goodput: good, slo_attainment: 0.5 },
  });
  expect(reported.stated.measures).toContainEqual(
    expect.objectContaining({ definition: 'good_requests_over_measurement[ttft_ms<=100]', value: 2 }),
  );
  expect(reported.stated.measures).toContainEqual(
    expect.objectContaining({ measure: 'good_request_ratio', value: 0.5 }),
  );
});

test('the median is p50 where the report has no percentile of that name', async () => {
  const [first] = await benchmarks('v0.json');
  const { percentiles, ...rest } = first.metrics['request_latency']!.successful;
  const others = Object.fromEntries(Object.entries(percentiles).filter(([name]) => name !== 'p50'));
  const latency = { successful: { ...rest, median: 0.25, percentiles: others } };
  const reported = run({
    ...first,
    metrics: { ...first.metrics, request_latency: latency },
    requests: { successful: [], errored: [], incomplete: [] },
  });
  const stated = reported.stated.measures.find(({ measure }) => measure === 'request_latency');
  expect(stated).toMatchObject({ percentiles: { p50: { value: 0.25 } } });
});

test.each([
  ['indented lists', { indentSeq: true }],
  ['lists at the margin', { indentSeq: false }],
  ['quoted texts', { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' } as const],
])('YAML of another writer, with %s, is the same report', (_, options) =>
  inTemporaryFolder(async (folder) => {
    const { benchmarks: list, ...rest } = JSON.parse(await readFile(join(FIXTURES, 'v1.json'), 'utf8')) as {
      benchmarks: Record<string, unknown>[];
    };
    // The kind first, as another writer orders its keys: the line of the list is `- type_: …`.
    const ordered = list.map((each) => ({ type_: each['type_'], ...each }));
    await writeFile(join(folder, 'report.yaml'), stringify({ benchmarks: ordered, ...rest }, options));
    const yaml = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'report.yaml')]));
    const json = await importedRun(await importInto(join(folder, 'json'), [join(FIXTURES, 'v1.json')]));
    expect(yaml.result.measures).toEqual(json.result.measures);
  }),
);

describe('faults', () => {
  test('a figure that its own requests contradict is reported', async () => {
    const [first] = await benchmarks('v2.json');
    const latency = first.metrics['request_latency'];
    if (latency !== undefined) latency.successful.percentiles['p90'] = 9;
    expect(run(first).notes.disagreements).toEqual([
      expect.stringMatching(/^request_latency p90: the file states 9 seconds/),
    ]);
  });

  test('a due time that is no time of day is unknown', async () => {
    const [first] = await benchmarks('v2-errors.json');
    const request = first.requests['successful']?.[0];
    // As 0.8.1 wrote it in another run.
    if (request !== undefined) request.info.timings['targeted_start'] = 6.2;
    const reported = run(first);
    expect((await recordsOf(reported)).filter(({ due_ns }) => due_ns === null)).toHaveLength(1);
    expect(reported.notes.lines).toContainEqual(expect.stringMatching(/^1 × due times that are no time of day/));
  });

  test('a request without times is left out and counted', async () => {
    const [first] = await benchmarks('v2.json');
    const otherClock = { info: { timings: { request_start: 12.5, request_end: 12.9 } } };
    const broken = { ...first, requests: { ...first.requests, errored: [{}, 7, null, otherClock] } };
    expect(await recordsOf(run(broken))).toHaveLength(6);
    expect(run(broken).notes.lines).toContainEqual(expect.stringMatching(/^4 × requests left out: no time of sending/));
  });

  test('a report without benchmarks, a cut one and one of YAML bombs are refused; a later version is read', () =>
    inTemporaryFolder(async (folder) => {
      const json = await readFile(join(FIXTURES, 'v1.json'), 'utf8');
      await writeFile(join(folder, 'cut.json'), json.slice(0, 9000));
      await writeFile(
        join(folder, 'empty.json'),
        JSON.stringify({ metadata: { guidellm_version: '1' }, benchmarks: [] }),
      );
      await writeFile(join(folder, 'later.json'), json.replace(/"version": 1/, '"version": 9'));
      const bomb = [
        'a: &a [1]',
        ...[...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`),
      ];
      await writeFile(
        join(folder, 'bomb.yaml'),
        `${bomb.join('\n')}\nbenchmarks:\n- type_: x\n  type_: generative_benchmark\n`,
      );
      await writeFile(
        join(folder, 'bomb2.yaml'),
        `${bomb.join('\n')}\nbenchmarks:\n- x: 1\n  type_: generative_benchmark\n`,
      );
      const { report, store } = await importInto(join(folder, 'runs'), [folder]);
      const outcomes = report.outcomes.map((each) => [each.name, each.status]);
      expect(outcomes).toEqual([
        ['bomb.yaml', 'refused'],
        ['bomb2.yaml', 'refused'],
        ['cut.json', 'refused'],
        ['empty.json', 'refused'],
        ['later.json', 'imported'],
      ]);
      const later = report.outcomes.at(-1);
      if (later?.status !== 'imported') throw new Error('it was not imported');
      expect((await store.readRun(later.run_id)).source?.notes).toContain(
        'version 9 of the report is not known: known members were imported',
      );
    }));

  test('the percentile of the tool is the first value whose share reaches it', () => {
    const values = Float64Array.of(1, 2, 3, 4);
    expect([0.25, 0.26, 0.5, 0.99].map((q) => CUMULATIVE_SHARE(values, q))).toEqual([1, 2, 2, 4]);
  });
});

test('a packed copy is the same run', () =>
  inTemporaryFolder(async (folder) => {
    await copyFile(join(FIXTURES, 'v1.json'), join(folder, 'renamed.json'));
    const first = await importInto(join(folder, 'runs'), [join(FIXTURES, 'v1.json')]);
    const second = await importInto(join(folder, 'runs'), [join(folder, 'renamed.json')]);
    expect(first.report.outcomes).toMatchObject([{ status: 'imported' }]);
    expect(second.report.outcomes).toMatchObject([{ status: 'known' }]);
    expect(scalarOf((await importedRun(first)).result, 'request_throughput').value).toBeGreaterThan(0);
  }));

test('a report that a folder has as JSON and as YAML is imported once; alone, either is', () =>
  inTemporaryFolder(async (folder) => {
    const both = join(folder, 'both');
    await mkdir(both);
    for (const name of ['v2.json', 'v2.yaml']) await copyFile(join(FIXTURES, name), join(both, name));
    const namesOf = async (runs: string, path: string): Promise<readonly string[]> =>
      (await importInto(join(folder, runs), [path])).report.outcomes.map(({ status, name }) => `${status} ${name}`);
    // The JSON has two benchmarks, the YAML the first of them.
    expect(await namesOf('a', both)).toEqual(['imported v2.json (0)', 'imported v2.json (1)']);
    expect(await namesOf('b', join(both, 'v2.yaml'))).toEqual(['imported v2.yaml']);
    await copyFile(join(FIXTURES, 'v2.yaml'), join(both, 'second.yaml'));
    expect(await namesOf('c', both)).toEqual(['imported second.yaml', 'imported v2.json (0)', 'imported v2.json (1)']);
  }));

test('its CSV is passed over beside the report, and alone refused with what to import', () =>
  inTemporaryFolder(async (folder) => {
    // Of version 0.8.1: the first of its four lines of titles.
    const titles = 'Run Info,Run Info,Benchmark,Timings,Request Counts,Request Latency,Time to First Token\n';
    const both = join(folder, 'both');
    await mkdir(both);
    await copyFile(join(FIXTURES, 'v1.json'), join(both, 'benchmarks.json'));
    await writeFile(join(both, 'benchmarks.csv'), titles);
    const { report } = await importInto(join(folder, 'runs'), [both]);
    expect(report.outcomes.every(({ status }) => status === 'imported')).toBe(true);
    expect(report.unrecognized).toEqual([]);
    const alone = await importInto(join(folder, 'other'), [join(both, 'benchmarks.csv')]);
    expect(alone.report.outcomes).toMatchObject([
      { status: 'refused', tool: 'guidellm', reason: expect.stringContaining('--output kind=json') },
    ]);
  }));
