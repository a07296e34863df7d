import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { capturePath } from '../../../fixtures/captures.ts';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';

const STEADY = capturePath('dynamo/a-steady-c8/aiperf');
const UNARY = capturePath('dynamo/d-nostream-c8/aiperf');

const lines = async (): Promise<string[]> =>
  gunzipSync(await readFile(join(STEADY, 'profile_export.jsonl.gz')))
    .toString('utf8')
    .trimEnd()
    .split('\n');

describe('a folder of AIPerf 0.13.0 with its records', () => {
  // The numbers are those that the server counted, and AIPerf's own summary.
  test('gives the numbers that are known of it', () =>
    inTemporaryFolder(async (folder) => {
      const imported = await importInto(join(folder, 'runs'), [STEADY]);
      expect(imported.report.outcomes).toMatchObject([{ status: 'imported', tool: 'aiperf', disagreements: 0 }]);
      const { run, result, records } = await importedRun(imported);
      expect(records).toHaveLength(200);
      expect(result.requests).toEqual({ ok: 200, error: 0, timeout: 0, cancelled: 0 });
      expect(result.window.seconds).toBeCloseTo(17.649967872, 6);
      const sum = (of: (typeof records)[number]['input_tokens'][]): number =>
        of.reduce<number>((a, b) => a + (b ?? NaN), 0);
      expect(sum(records.map(({ output_tokens }) => output_tokens))).toBe(9600);
      expect(sum(records.map(({ input_tokens }) => input_tokens))).toBe(52_049);
      expect(distributionOf(result, 'inter_chunk_latency').n).toBe(9400);
      const ttft = distributionOf(result, 'time_to_first_token');
      expect(ttft.mean).toBeCloseTo(0.13247788235, 9);
      expect(ttft.percentiles.p99.value).toBeCloseTo(0.38315271277, 9);
      const latency = distributionOf(result, 'request_latency');
      expect(latency.mean).toBeCloseTo(0.596561313545, 9);
      expect(latency.std).toBeCloseTo(0.15295678359871, 9);
      expect(run).toMatchObject({
        status: 'completed',
        tool: { name: 'aiperf', version: '0.13.0' },
        // The first credit was issued at 1795279610859…
        start: '2026-11-21T16:46:50.859Z',
        target: { origin: 'http://127.0.0.1:8280' },
        comparison_key: {
          endpoint_type: 'chat',
          model: 'mock',
          streaming: true,
          load: { mode: 'concurrency', concurrency: 8 },
          stop: { request_count: 200, benchmark_duration_seconds: null },
          warmup: null,
          sampling: { ignore_eos: true },
          dataset_plan_sha256: null,
        },
        source: { format: 'aiperf-summary', format_version: '1.4', unknown: ['dataset_plan_sha256'] },
      });
      expect(run.phases).toEqual([{ phase: 'measure', start: result.window.start, end: result.window.end }]);
    }));

  test('tokens are the server’s: what AIPerf’s tokenizer counted is converted and reported', () =>
    inTemporaryFolder(async (folder) => {
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [STEADY]));
      const itl = distributionOf(result, 'inter_token_latency');
      expect(itl.definition).toBe('per_request_mean_from_usage');
      // Per request (latency − TTFT) ÷ 47, over AIPerf's own values of both.
      expect(itl.mean).toBeCloseTo((0.596561313545 - 0.13247788235) / 47, 9);
      expect(distributionOf(result, 'output_sequence_length').mean).toBe(48);
      expect(scalarOf(result, 'output_token_throughput').value).toBeCloseTo(9600 / 17.649967872, 4);
      const notes = run.source?.notes.join('\n');
      expect(notes).toContain('inter_token_latency mean 9.87 ms (per_request_mean_from_tokenizer: 9.59 ms)');
    }));

  test('a record has the times, to the nanosecond, and what the trace reports', () =>
    inTemporaryFolder(async (folder) => {
      const { run, records } = await importedRun(await importInto(join(folder, 'runs'), [STEADY]));
      const start_ns = BigInt(Date.parse(run.start ?? '')) * 1_000_000n;
      // The line of session 7, as AIPerf wrote it.
      const record = records.find(({ sent_ns }) => start_ns + BigInt(sent_ns) === 1795279611023537732n);
      expect(record).toMatchObject({
        phase: 'measure',
        due_ns: Number(1795279610865810572n - start_ns),
        end_ns: Number(1795279611648932720n - start_ns),
        input_tokens: 310,
        input_tokens_source: 'usage',
        output_tokens: 48,
        requested_output_tokens: 48,
        connection_reused: false,
        connect_ns: 18_017_733,
        http_waiting_ns: 200_455_665,
        http_data_received_bytes: 14_886,
      });
      expect(record?.chunk_offsets_ns.slice(0, 3)).toEqual([219_290_428, 224_016_907, 231_115_650]);
      expect(record?.chunk_offsets_ns.at(-1)).toBe(625_394_988);
      expect((record?.first_content_ns ?? NaN) - (record?.sent_ns ?? NaN)).toBe(219_290_428);
    }));

  test('turns of conversations are places in them; requests that are all first turns are of their own', () =>
    inTemporaryFolder(async (folder) => {
      const single = await importedRun(await importInto(join(folder, 'single'), [STEADY]));
      expect(single.records[0]).toMatchObject({ conversation: null, turn: null });
      expect(single.result).not.toHaveProperty('breakdown');
      // The same lines as 50 conversations of four turns.
      const turns = (await lines()).map((line, i) => {
        const parsed = JSON.parse(line) as { metadata: object };
        const place = { x_correlation_id: `c${i % 50}`, turn_index: Math.floor(i / 50) };
        // The times are above 2^53: only the text has them all.
        const known = Object.keys(parsed.metadata).filter((key) => key in place);
        const without = known.reduce((text, key) => text.replace(new RegExp(`"${key}":("[^"]*"|\\d+),`), ''), line);
        return without.replace('"metadata":{', `"metadata":{${JSON.stringify(place).slice(1, -1)},`);
      });
      const input = join(folder, 'input');
      await mkdir(input);
      await writeFile(join(input, 'profile_export.jsonl'), turns.join('\n'));
      const { result, records } = await importedRun(await importInto(join(folder, 'turns'), [input]));
      expect(records[53]).toMatchObject({ conversation: 3, turn: 2 });
      expect(result.conversations).toEqual({ complete: 50, incomplete: 0 });
      expect(result.breakdown?.map(({ value, requests }) => [value, requests.ok])).toEqual([
        ...[
          ['first', 50],
          ['later', 150],
          ['2', 50],
          ['3-4', 100],
        ],
      ]);
      const [first, later] = result.breakdown ?? [];
      const ttft = [first, later].map((each) =>
        each?.measures.find(({ measure }) => measure === 'time_to_first_token'),
      );
      const means = ttft.map((found) => (found?.kind === 'distribution' ? (found.mean ?? NaN) : NaN));
      expect(((means[0] ?? NaN) + 3 * (means[1] ?? NaN)) / 4).toBeCloseTo(0.13247788235, 9);
    }));

  test('again: known; packed in another way: known; without its summary: another result', () =>
    inTemporaryFolder(async (folder) => {
      const runs = join(folder, 'runs');
      await importInto(runs, [STEADY]);
      const again = await importInto(runs, [STEADY]);
      expect(again.report.outcomes).toMatchObject([{ status: 'known' }]);
      const other = join(folder, 'packed');
      await mkdir(other);
      await copyFile(join(STEADY, 'profile_export_aiperf.json'), join(other, 'profile_export_aiperf.json'));
      const plain = gunzipSync(await readFile(join(STEADY, 'profile_export.jsonl.gz')));
      await writeFile(join(other, 'profile_export.jsonl.zst'), zstdCompressSync(plain));
      expect((await importInto(runs, [other])).report.outcomes).toMatchObject([{ status: 'known' }]);
      const alone = await importInto(runs, [join(other, 'profile_export.jsonl.zst')]);
      expect(alone.report.outcomes).toMatchObject([{ status: 'imported' }]);
      const { run, result } = await importedRun(alone);
      expect(run.comparison_key.model).toBeNull();
      expect(run.source?.unknown).toContain('warmup');
      expect(distributionOf(result, 'time_to_first_token').mean).toBeCloseTo(0.13247788235, 9);
    }));

  test('goodput with its limits, and the latencies in which failed requests are infinite', () =>
    inTemporaryFolder(async (folder) => {
      const summary = JSON.parse(await readFile(join(STEADY, 'profile_export_aiperf.json'), 'utf8')) as Record<
        string,
        object
      >;
      const config = {
        ...summary['input_config'],
        input: { goodput: { time_to_first_token: 150, inter_token_latency: 10 } },
      };
      const scalar = (unit: string, avg: number): object => ({ unit, avg });
      const extended = {
        ...summary,
        input_config: config,
        good_request_count: scalar('requests', 150),
        good_request_fraction: scalar('ratio', 0.75),
        // 150 ÷ the duration of the run.
        goodput: scalar('requests/sec', 150 / 17.649967872),
        adj_request_latency: { unit: 'ms', min: 500, p50: 600, p90: 900, avg: 600, count: 210 },
      };
      await writeFile(join(folder, 'profile_export_aiperf.json'), JSON.stringify(extended));
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
      const under = '[inter_token_latency<=10,time_to_first_token<=150]';
      expect(scalarOf(result, 'good_request_count')).toMatchObject({ value: 150, definition: `good_requests${under}` });
      expect(scalarOf(result, 'good_request_ratio', 'all')).toMatchObject({
        value: 0.75,
        definition: `good_over_ok_and_errors${under}`,
      });
      expect(scalarOf(result, 'goodput')).toMatchObject({
        value: expect.closeTo(150 / 17.649967872, 9),
        definition: `good_requests_over_window${under}`,
      });
      const all = result.measures.find(
        ({ measure, population }) => measure === 'request_latency' && population === 'all',
      );
      expect(all).toMatchObject({
        definition: 'sent_to_last_content_chunk_by_nearest_rank',
        n: 210,
        percentiles: { p50: { value: 0.6 }, p90: { value: 0.9 }, p99: { value: null } },
      });
      expect(run.source?.notes.join()).not.toContain('not understood: goodput');
    }));

  test('a first line longer than what a file is recognized by: a response of ten thousand chunks', () =>
    inTemporaryFolder(async (folder) => {
      const gaps = Array.from({ length: 10_000 }, (_, i) => 5 + (i % 7) / 8);
      const line =
        '{"metadata":{"request_start_ns":1795279611023537732,"request_end_ns":1795279691023537732,"benchmark_phase":"profiling"},' +
        `"metrics":{"time_to_first_token":{"value":100,"unit":"ms"},"inter_chunk_latency":{"value":${JSON.stringify(gaps)},"unit":"ms"}}}`;
      await writeFile(join(folder, 'profile_export.jsonl'), `${line}\n${line}\n`);
      const { result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
      expect(result.requests.ok).toBe(2);
      expect(distributionOf(result, 'inter_chunk_latency').n).toBe(20_000);
    }));

  test('unary answers have no time to first token and no gaps', () =>
    inTemporaryFolder(async (folder) => {
      const imported = await importInto(join(folder, 'runs'), [UNARY]);
      expect(imported.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
      const { run, result } = await importedRun(imported);
      expect(run.comparison_key.streaming).toBe(false);
      expect(result.requests.ok).toBe(160);
      expect(distributionOf(result, 'request_latency').mean).toBeCloseTo(0.65904314206875, 9);
      for (const measure of ['time_to_first_token', 'inter_token_latency', 'inter_chunk_latency']) {
        expect(measureOf(result, measure)).toMatchObject({ n: 0, mean: null });
      }
      // When the chunks came is not known: no throughput at full load can be reported.
      expect(scalarOf(result, 'steady_output_token_throughput').value).toBeNull();
    }));
});

describe('a summary without records', () => {
  const onlySummary = async (folder: string, name: string): Promise<string> => {
    const alone = join(folder, 'alone');
    await mkdir(alone);
    await copyFile(join(STEADY, name), join(alone, name));
    return alone;
  };

  test('keeps AIPerf’s definitions and has no start time: the time in the file has no zone', () =>
    inTemporaryFolder(async (folder) => {
      const path = await onlySummary(folder, 'profile_export_aiperf.json');
      const { run, result, records } = await importedRun(await importInto(join(folder, 'runs'), [path]));
      expect(records).toEqual([]);
      expect(run.start).toBeNull();
      expect(run.run_id).toMatch(/^undated-[a-z0-9]{10}$/);
      expect(result.window).toEqual({ start: null, end: null, seconds: 17.649967872 });
      expect(result.requests.ok).toBe(200);
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        definition: 'sent_to_first_content_chunk',
        n: 200,
        percentiles: { p50: { value: expect.closeTo(0.0990500815, 10), ci95: null }, p99_9: { value: null } },
      });
      expect(distributionOf(result, 'inter_token_latency').definition).toBe('per_request_mean_from_tokenizer');
      expect(scalarOf(result, 'request_throughput').definition).toBe('ok_requests_over_wall_time');
      // The server's count is in the summary too, and stands.
      expect(distributionOf(result, 'output_sequence_length')).toMatchObject({
        definition: 'usage_completion_tokens',
        mean: 48,
      });
    }));

  test('has a start time when the zone is given', () =>
    inTemporaryFolder(async (folder) => {
      const path = await onlySummary(folder, 'profile_export_aiperf.json');
      const { run } = await importedRun(await importInto(join(folder, 'runs'), [path], { timeZone: 'Europe/Berlin' }));
      expect(run.start).toBe('2026-11-21T15:46:50.831Z');
      expect(run.run_id).toMatch(/^20261121T154650Z-/);
    }));

  test('as CSV has what a CSV holds', () =>
    inTemporaryFolder(async (folder) => {
      const path = await onlySummary(folder, 'profile_export_aiperf.csv');
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [path]));
      expect(run.source?.format).toBe('aiperf-summary-csv');
      expect(result.requests.ok).toBe(200);
      expect(distributionOf(result, 'time_to_first_token').percentiles.p99.value).toBeCloseTo(0.38315, 8);
    }));
});

test('errors that a summary names without their number are as many as its total says, of unknown reasons', () =>
  inTemporaryFolder(async (folder) => {
    const summary = JSON.parse(await readFile(join(STEADY, 'profile_export_aiperf.json'), 'utf8')) as object;
    const alone = join(folder, 'alone');
    await mkdir(alone);
    const error = { code: 500, type: 'Internal Server Error', message: 'x' };
    const changed = {
      ...summary,
      error_request_count: { unit: 'requests', avg: 7 },
      error_summary: [{ error_details: error, count: 4 }, { error_details: { ...error, code: 429 } }],
    };
    await writeFile(join(alone, 'profile_export_aiperf.json'), JSON.stringify(changed));
    const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [alone]));
    expect(result.requests).toEqual({ ok: 200, error: 7, timeout: null, cancelled: null });
    expect(result.errors).toEqual({});
    expect(run.source?.notes.join('\n')).toContain('error_summary does not count all of them');
  }));

describe('what is wrong with a file', () => {
  const imported = async (folder: string, text: string | Buffer, name = 'profile_export.jsonl') => {
    const path = join(folder, name);
    await writeFile(path, text);
    return importInto(join(folder, 'runs'), [path]);
  };

  test('a torn last line is left out and reported', () =>
    inTemporaryFolder(async (folder) => {
      const all = await lines();
      const torn = `${all.slice(0, 10).join('\n')}\n${(all[10] ?? '').slice(0, 500)}`;
      const { run, records } = await importedRun(await imported(folder, torn));
      expect(records).toHaveLength(10);
      expect(run.source?.notes).toContain(
        'the last line (11) is incomplete and left out: the file was cut while it was written',
      );
    }));

  test('a byte order mark, CR LF and empty lines are nothing', () =>
    inTemporaryFolder(async (folder) => {
      const all = await lines();
      const { records } = await importedRun(await imported(folder, `\ufeff${all.slice(0, 5).join('\r\n\r\n')}\r\n`));
      expect(records).toHaveLength(5);
    }));

  test('the summary counts more requests than there are records: the summary is used, and a note reports it', () =>
    inTemporaryFolder(async (folder) => {
      const sample = join(folder, 'sample');
      await mkdir(sample);
      await copyFile(join(STEADY, 'profile_export_aiperf.json'), join(sample, 'profile_export_aiperf.json'));
      await writeFile(join(sample, 'profile_export.jsonl'), `${(await lines()).slice(0, 10).join('\n')}\n`);
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [sample]));
      expect(run.source?.notes).toContainEqual(
        expect.stringMatching(/^the records are a sample, 10 of 200 ok requests/),
      );
      expect(result.requests.ok).toBe(200);
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({ n: 200 });
    }));

  test('a figure that its records contradict is reported', () =>
    inTemporaryFolder(async (folder) => {
      const wrong = join(folder, 'wrong');
      await mkdir(wrong);
      const summary = await readFile(join(STEADY, 'profile_export_aiperf.json'), 'utf8');
      await writeFile(join(wrong, 'profile_export_aiperf.json'), summary.replace('383.15271276999994', '283.1'));
      await copyFile(join(STEADY, 'profile_export.jsonl.gz'), join(wrong, 'profile_export.jsonl.gz'));
      const { report } = await importInto(join(folder, 'runs'), [wrong]);
      expect(report.outcomes).toMatchObject([{ status: 'imported', disagreements: 1 }]);
      expect(JSON.stringify(report.outcomes)).toContain(
        'time_to_first_token p99: the file states 0.2831 seconds, its records give 0.383152713 seconds',
      );
    }));

  test('impossible times, NaN, numbers as text and hostile keys', () =>
    inTemporaryFolder(async (folder) => {
      const [one = ''] = await lines();
      const changed = (change: (line: string) => string): string => change(one);
      const text = [
        one,
        changed((line) => line.replace(/"request_end_ns":\d+/, '"request_end_ns":1795279600000000000')),
        changed((line) => line.replace(/("time_to_first_token":\{"value":)[\d.]+/, '$1-5.0')),
        changed((line) => line.replace(/("request_latency":\{"value":)[\d.]+/, '$1NaN')),
        changed((line) => line.replace(/("usage_completion_tokens":\{"value":)(\d+)/, '$1"$2"')),
        changed((line) => line.replace('{"metadata"', '{"__proto__":{"polluted":true},"metadata"')),
        '{"metadata":{"benchmark_phase":"profiling"},"metrics":{}}',
        `${'['.repeat(1_000_000)}`,
        '[1,2]',
      ].join('\n');
      const { run, records } = await importedRun(await imported(folder, `${text}\n`));
      expect(records).toHaveLength(4);
      expect(records[2]?.output_tokens).toBe(48);
      expect(run.source?.notes.slice(0, 6)).toEqual([
        '1 × records left out: it ended before it was sent (first: request 1)',
        '1 × records left out: negative time to first token (first: request 2)',
        '1 × lines with NaN or Infinity, which were read as unknown (first: line 4)',
        '1 × numbers that were written as text (first: line 5: metrics.usage_completion_tokens.value)',
        '1 × records left out: no request_start_ns or request_end_ns (first: line 7)',
        '1 × lines left out: not JSON (first: line 8: it is nested more than 200 deep at character 200)',
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }));

  test.each([
    ['empty', '', 'results of a known tool'],
    [
      'a summary that is cut',
      '{"aiperf_version":"0.13.0","request_latency":{"unit":"ms","avg":1',
      'cut off at character',
    ],
    [
      'server metrics alone',
      '{"endpoint_url":"http://h/metrics","timestamp_ns":1,"metrics":{}}\n{}\n',
      'without the results of a client',
    ],
  ])('%s', (_name, text, reason) =>
    inTemporaryFolder(async (folder) => {
      const { report } = await imported(folder, text, 'profile_export_aiperf.json');
      const [outcome] = report.outcomes;
      if (outcome === undefined) expect(report.unrecognized).toHaveLength(1);
      else expect(outcome).toMatchObject({ status: 'refused', reason: expect.stringContaining(reason) });
    }),
  );
});

test('errors and canceled requests keep their reasons; the warm-up is a separate phase', () =>
  inTemporaryFolder(async (folder) => {
    const line = (index: number, phase: string, error: string): string => {
      const start = 1_795_279_610n * 1_000_000_000n + BigInt(index) * 1_000_000n;
      return (
        `{"metadata":{"session_num":${index},"request_start_ns":${start},"request_end_ns":${start + 500_000n},` +
        `"benchmark_phase":"${phase}","was_cancelled":${error.includes('499')}},"metrics":{},"error":${error}}`
      );
    };
    const ok =
      '{"metadata":{"session_num":9,"request_start_ns":1795279610900000000,"request_end_ns":1795279611000000000,' +
      '"benchmark_phase":"profiling","was_cancelled":false,"cancellation_time_ns":null},"metrics":{},"error":null}';
    const text = [
      line(0, 'warmup', 'null'),
      line(1, 'profiling', '{"code":499,"type":"RequestCancellationError","message":""}'),
      line(2, 'profiling', '{"code":429,"type":"ClientResponseError","message":"slow down"}'),
      line(3, 'profiling', '{"code":503,"type":"X","message":""}'),
      line(4, 'profiling', '{"type":"TimeoutError","message":"request took too long"}'),
      line(5, 'profiling', '{"type":"ClientConnectorError","message":"Connect call failed"}'),
      ok,
    ].join('\n');
    const path = join(folder, 'foo.jsonl');
    await writeFile(path, `${text}\n`);
    const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [path]));
    expect(result.requests).toEqual({ ok: 1, error: 3, timeout: 1, cancelled: 1 });
    expect(result.errors).toEqual({ cancelled: 1, http_429: 1, http_5xx: 1, request_timeout: 1, connect_refused: 1 });
    expect(run.phases.map(({ phase }) => phase)).toEqual(['warmup', 'measure']);
    expect(distributionOf(result, 'request_latency')).toMatchObject({ n: 1, mean: 0.1 });
  }));

test('what AIPerf writes over several runs is passed over', () =>
  inTemporaryFolder(async (folder) => {
    const run = join(folder, 'sweep', 'profile_runs', 'trial_0001', 'concurrency_1');
    const aggregate = join(folder, 'sweep', 'aggregate', 'concurrency_1');
    for (const each of [run, aggregate]) await mkdir(each, { recursive: true });
    await copyFile(join(STEADY, 'profile_export_aiperf.json'), join(run, 'profile_export_aiperf.json'));
    await writeFile(join(run, 'run_config.json'), '{"benchmark_id": "6b", "sweep_id": "70", "cfg": {}}');
    await writeFile(
      join(aggregate, 'profile_export_aiperf_aggregate.csv'),
      'metric,mean,std,min,max,cv\na,1,0,1,1,0\n',
    );
    await writeFile(join(aggregate, 'profile_export_aiperf_sweep.csv'), 'concurrency,a_mean,a_std\n1,1,0\n');
    const { report } = await importInto(join(folder, 'runs'), [folder]);
    expect(report).toMatchObject({ outcomes: [{ status: 'imported' }], unrecognized: [], passedOver: { length: 3 } });
  }));

test('folders of a sweep with repeats become one group, with steps and repeats', () =>
  inTemporaryFolder(async (folder) => {
    const [one = ''] = await lines();
    for (const [step, repeat] of [
      ['concurrency_16', 'run_0001'],
      ['concurrency_2', 'run_0001'],
      ['concurrency_2', 'run_0002'],
    ] as const) {
      const inside = join(folder, 'sweep', step, 'profile_runs', repeat);
      await mkdir(inside, { recursive: true });
      await writeFile(join(inside, 'profile_export.jsonl'), one.replace('worker_', `${step}_${repeat}_`));
    }
    const { report, store } = await importInto(join(folder, 'runs'), [folder]);
    expect(report.outcomes.map(({ status }) => status)).toEqual(['imported', 'imported', 'imported']);
    const runs = (await store.list()).flatMap(({ run }) => (run === null ? [] : [run]));
    expect(new Set(runs.map(({ group_id }) => group_id)).size).toBe(1);
    expect(runs.map(({ step, repeat }) => `${step} ${repeat}`).sort()).toEqual(['0 0', '0 1', '1 0']);
    // They can be compared: it is one scenario.
    expect(runs.map(({ scenario }) => scenario)).toEqual(['sweep', 'sweep', 'sweep']);
  }));

describe('answers that ended without usage', () => {
  /**
   * Four of the responses without their usage, as AIPerf writes those whose stream was cut off: no error, its own count.
   */
  async function cut(folder: string): Promise<string> {
    const all = await lines();
    const without = all.map((line, i) =>
      i >= 4 ? line : line.replace(/"usage_[a-z_]+": ?\{[^}]*\},? ?/g, '').replace(/,\s*\}(?=,|$|\})/g, '}'),
    );
    for (const line of without.slice(0, 4)) expect(line).not.toContain('usage_completion_tokens');
    const results = join(folder, 'cut');
    await mkdir(results);
    await writeFile(join(results, 'profile_export.jsonl'), `${without.join('\n')}\n`);
    return results;
  }

  test('are counted in a note, and their tokens, counted by the tool, are not mixed with the server’s', () =>
    inTemporaryFolder(async (folder) => {
      const { run, result, records } = await importedRun(await importInto(join(folder, 'runs'), [await cut(folder)]));
      expect(result.requests).toMatchObject({ ok: 200, error: 0 });
      expect(records.filter(({ output_tokens }) => output_tokens === null)).toHaveLength(4);
      expect(new Set(records.map(({ output_tokens_source }) => output_tokens_source))).toEqual(
        new Set(['usage', null]),
      );
      expect(distributionOf(result, 'output_sequence_length')).toMatchObject({
        n: 196,
        definition: 'usage_completion_tokens',
        mean: 48,
      });
      expect(run.source?.notes).toContainEqual(
        expect.stringMatching(/^4 × answers ended without usage: .*\(first: line 1\)$/),
      );
    }));
});

test('10 of 64 records: the summary of the tool is used, for the window too', () =>
  inTemporaryFolder(async (folder) => {
    const results = join(folder, 'sample');
    await mkdir(results);
    await writeFile(join(results, 'profile_export.jsonl'), `${(await lines()).slice(0, 10).join('\n')}\n`);
    await copyFile(join(STEADY, 'profile_export_aiperf.json'), join(results, 'profile_export_aiperf.json'));
    const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [results]));
    expect(result.requests.ok).toBe(200);
    expect(result.window).toMatchObject({ start: null, end: null });
    expect(result.window.seconds).toBeCloseTo(17.649967872, 6);
    expect(run.phases).toEqual([]);
    expect(scalarOf(result, 'request_throughput').value).toBeCloseTo(11.2956, 3);
    expect(scalarOf(result, 'steady_request_throughput').value).toBeNull();
    expect(distributionOf(result, 'time_to_first_token').n).toBe(200);
  }));

describe('the folders of phases that AIPerf 0.13.0 writes below a run with a warm-up', () => {
  /** `phases/NAME` as the tool writes it, with figures of its own. */
  async function runWithPhases(root: string): Promise<string> {
    for (const file of ['profile_export_aiperf.json', 'profile_export.jsonl.gz']) {
      await mkdir(root, { recursive: true });
      await copyFile(join(STEADY, file), join(root, file));
    }
    const summary = await readFile(join(STEADY, 'profile_export_aiperf.json'), 'utf8');
    const servers = '{"data": {"benchmark_id": "1a", "end_ns": 1, "endpoint_summaries": {}}}';
    for (const [phase, latency] of [
      ['warmup', '900.5'],
      ['profiling', '596.561313545'],
    ] as const) {
      const below = join(root, 'phases', phase);
      await mkdir(below, { recursive: true });
      await writeFile(join(below, 'profile_export_aiperf.json'), summary.replace('596.561313545', latency));
      await copyFile(join(STEADY, 'profile_export_aiperf.csv'), join(below, 'profile_export_aiperf.csv'));
      await writeFile(join(below, 'server_metrics.json'), servers);
    }
    await writeFile(join(root, 'phase_manifest.json'), '{"phases": [], "schema_version": 1}');
    return root;
  }

  test('are no runs: neither the warm-up, nor what the run itself has', () =>
    inTemporaryFolder(async (folder) => {
      const root = await runWithPhases(join(folder, 'nightly'));
      const { report } = await importInto(join(folder, 'runs'), [root]);
      expect(report.outcomes).toMatchObject([{ status: 'imported', name: 'nightly' }]);
      expect(report.unrecognized).toEqual([]);
    }));

  test('likewise below the steps of a sweep', () =>
    inTemporaryFolder(async (folder) => {
      await runWithPhases(join(folder, 'sweep', 'concurrency_8', 'run_0001'));
      const { report } = await importInto(join(folder, 'runs'), [join(folder, 'sweep')]);
      expect(report.outcomes).toMatchObject([{ status: 'imported' }]);
    }));
});

describe('figures of other populations than the ok requests', () => {
  const HEADER = 'Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std';
  // Of a run with 22 ok requests of 16 chunks, and 18 that failed.
  const CSV = [
    HEADER,
    'Request Latency (error-adjusted) (ms),,133.71,,,133.71,144.41,160.34,165.98,193.15,,,,,',
    'Credit-to-Start Latency (ms),1.45,0.65,8.25,57.88,0.71,0.84,0.84,1.01,1.10,1.37,1.70,2.96,6.62,1.24',
    'Inter Chunk Latency (ms),9.76,0.00,19.82,3220.59,0.00,0.00,0.00,8.40,12.33,12.96,14.12,16.61,18.26,5.82',
    'Request Latency (ms),171.26,133.71,223.28,3767.76,135.34,141.64,145.76,161.62,166.24,183.90,191.76,193.09,216.95,19.51',
    '',
    'Metric,Value',
    'Benchmark Duration (sec),3.91',
    'Error Request Count,18.00',
    'Output Token Throughput (tokens/sec),222.10',
    'Request Count,22.00',
    'Request Throughput (requests/sec),5.58',
    'Total Output Sequence Length (tokens),875.00',
  ].join('\n');

  const importedCsv = async (folder: string, csv: string) => {
    const alone = join(folder, 'alone');
    await mkdir(alone);
    await writeFile(join(alone, 'profile_export_aiperf.csv'), `${csv}\n`);
    return importedRun(await importInto(join(folder, 'runs'), [alone]));
  };

  test('a CSV does not report how many gaps there were, nor whether failed requests are among the delays', () =>
    inTemporaryFolder(async (folder) => {
      const { run, result } = await importedCsv(folder, CSV);
      expect(result.requests).toMatchObject({ ok: 22, error: 18 });
      expect(distributionOf(result, 'request_latency')).toMatchObject({ n: 22 });
      expect(distributionOf(result, 'inter_chunk_latency')).toMatchObject({ n: null, mean: 0.00976 });
      expect(result.measures.filter(({ measure }) => measure === 'schedule_delay')).toEqual([]);
      expect(run.source?.notes).toContain(
        'credit_to_start_latency is not used: the file does not report whether failed requests are in it',
      );
      const adjusted = result.measures.filter(
        ({ measure, population }) => `${measure} ${population}` === 'request_latency all',
      );
      expect(adjusted).toMatchObject([{ definition: 'sent_to_last_content_chunk_by_nearest_rank', mean: null }]);
    }));

  test('throughputs of a CSV are over the window if they are so within its rounding', () =>
    inTemporaryFolder(async (folder) => {
      // 22 ÷ 3.91 = 5.627 and 875 ÷ 3.91 = 223.8: the first is over the window, the second is not.
      const { result } = await importedCsv(folder, CSV.replace('requests/sec),5.58', 'requests/sec),5.63'));
      expect(scalarOf(result, 'request_throughput').definition).toBe('ok_requests_over_window');
      expect(scalarOf(result, 'output_token_throughput').definition).toBe('ok_tokenizer_output_tokens_over_wall_time');
    }));

  test('delays of all requests are no contradiction to those of the ok ones', () =>
    inTemporaryFolder(async (folder) => {
      const failed = join(folder, 'failed');
      await mkdir(failed);
      const summary = JSON.parse(await readFile(join(STEADY, 'profile_export_aiperf.json'), 'utf8')) as Record<
        string,
        Record<string, unknown>
      >;
      const delays = { unit: 'ms', avg: 3, min: 1, max: 90, count: 240 };
      const changed = {
        ...summary,
        credit_to_start_latency: delays,
        error_request_count: { unit: 'requests', avg: 40 },
      };
      await writeFile(join(failed, 'profile_export_aiperf.json'), JSON.stringify(changed));
      await copyFile(join(STEADY, 'profile_export.jsonl.gz'), join(failed, 'profile_export.jsonl.gz'));
      const imported = await importInto(join(folder, 'runs'), [failed]);
      expect(imported.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
      const { result } = await importedRun(imported);
      const found = result.measures.filter(({ measure }) => measure === 'schedule_delay');
      expect(found).toMatchObject([
        { population: 'ok', n: 200 },
        { population: 'all', n: 240, mean: 0.003 },
      ]);
    }));
});
