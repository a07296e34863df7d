import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import { NOT_COUNTED, NOT_TRACED } from '../../core/run/record.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { examplePlan, exampleRecord } from '../store/fixtures/example-run.ts';
import { UNKNOWN_HEALTH } from '../store/sealed/seal-run.ts';
import { type AiperfStatistics, writeAiperf } from './aiperf-summary.ts';

interface Recorded {
  readonly zero_ns: string;
  readonly summary: Record<string, AiperfStatistics & { start_time: string }>;
  readonly requests: readonly {
    readonly due_ns: number;
    readonly start_ns: number;
    readonly end_ns: number;
    readonly ttft_ns: number | null;
    readonly latency_ns: number;
    readonly gaps_ns: readonly number[];
    readonly isl: number;
    readonly osl: number;
    readonly usage_prompt: number;
    readonly usage_completion: number;
    readonly reused: boolean;
    readonly connecting_ns: number;
  }[];
}

const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8')) as Recorded;

/** AIPerf's requests as records of ours; the tokens are its own count, or the server's. */
function recordsOf({ requests }: Recorded, source: 'tokenizer' | 'usage'): RequestRecord[] {
  return requests.map((r, index) => {
    let offset = r.ttft_ns ?? 0;
    const offsets = r.ttft_ns === null ? [] : [offset, ...r.gaps_ns.map((gap) => (offset += gap))];
    return {
      index,
      phase: 'measure',
      due_ns: r.due_ns,
      sent_ns: r.start_ns,
      first_content_ns: r.ttft_ns === null ? null : r.start_ns + r.ttft_ns,
      first_output_ns: r.ttft_ns === null ? null : r.start_ns + r.ttft_ns,
      last_content_ns: r.start_ns + r.latency_ns,
      end_ns: r.end_ns,
      connection_reused: r.reused,
      connect_ns: r.reused ? null : r.connecting_ns,
      connection_retried: false,
      outcome: 'ok',
      reason: null,
      http_status: 200,
      input_tokens: source === 'usage' ? r.usage_prompt : r.isl,
      input_tokens_source: source,
      output_tokens: source === 'usage' ? r.usage_completion : r.osl,
      output_tokens_source: source,
      reasoning_tokens: 0,
      cached_tokens: null,
      requested_output_tokens: 48,
      chunk_offsets_ns: offsets,
      ...NOT_TRACED,
      // The count of AIPerf's tokenizer is written in addition to the server's.
      ...(source === 'usage'
        ? { ...NOT_COUNTED, counted_input_tokens: r.isl, counted_output_tokens: r.osl }
        : NOT_COUNTED),
    };
  });
}

async function* each(records: readonly RequestRecord[]): AsyncGenerator<RequestRecord> {
  yield* records;
}

const plan = examplePlan({ run_id: 'exported', start: '2026-11-21T16:46:50.000Z' });
const run: RunFile = {
  source: null,
  tags: [],
  client: null,
  dataset: null,
  command_line: null,
  provenance: null,
  ...plan,
  target: { origins: null, ...plan.target },
  schema_version: 7,
  status: 'completed',
  recovered: false,
  fingerprint: 'f'.repeat(64),
  end: null,
  phases: [],
  process: null,
  failure: null,
};

function resultOf(records: readonly RequestRecord[]): ResultFile {
  const summary = new SummaryAccumulator({ plannedConcurrency: 8 });
  for (const record of records) summary.add(record);
  const chunks = summary.chunkReading();
  for (const record of records) chunks.add(record);
  const { window, requests, errors, measures } = summary.summarize(chunks);
  return {
    schema_version: 7,
    run_id: run.run_id,
    status: 'completed',
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    window: { start: null, end: null, seconds: window && (window.end_ns - window.start_ns) / 1e9 },
    requests,
    errors,
    client: UNKNOWN_HEALTH,
    servers: null,
    measures,
    slos: [],
    stages: [],
  };
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-aiperf-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(records: readonly RequestRecord[], of: RunFile = run) {
  await writeAiperf(folder, of, resultOf(records), each(records));
  const text = (name: string) => readFile(join(folder, name), 'utf8');
  return {
    summary: JSON.parse(await text('profile_export_aiperf.json')) as Record<string, AiperfStatistics>,
    csv: await text('profile_export_aiperf.csv'),
  };
}

/** What AIPerf divides its throughputs by, and weighs its concurrency over. */
function phaseSeconds({ summary }: Recorded): number {
  return (summary['request_count']?.avg ?? NaN) / (summary['request_throughput']?.avg ?? NaN);
}

const THROUGHPUTS = [
  'request_throughput',
  'output_token_throughput',
  'input_token_throughput',
  'total_token_throughput',
];
/** Weighted over AIPerf's phase, which is a little longer than the window. */
const STEPS = ['effective_concurrency', 'effective_prefill_concurrency', 'effective_decode_concurrency'];
const isSweep = (tag: string): boolean =>
  STEPS.includes(tag) || tag === 'tokens_in_flight' || /^(effective|active)_.*throughput/.test(tag);
/** AIPerf's are sums of wall clocks as floats, which resolve 256 ns. */
const COARSE = new Set(['effective_latency', 'credit_to_start_latency', 'benchmark_duration']);

describe.each(['stream', 'whole'])('AIPerf’s own %s run', (name) => {
  const aiperf = recorded(name);

  test.each(['tokenizer', 'usage'] as const)('gives AIPerf’s own statistics, tokens from %s', async (source) => {
    const { summary } = await written(recordsOf(aiperf, source));
    const compared: string[] = [];
    for (const [tag, ours] of Object.entries(summary)) {
      const theirs = aiperf.summary[tag];
      const isMetric = typeof ours === 'object' && ours !== null && 'unit' in ours;
      const otherTokens =
        source === 'usage' &&
        /token|prefill|sequence_length|isl|osl/.test(tag) &&
        !/^(time|usage|total_usage)/.test(tag);
      if (!isMetric || otherTokens || isSweep(tag)) continue;
      expect([tag, ours.unit]).toEqual([tag, theirs?.unit]);
      const scale = THROUGHPUTS.includes(tag) ? (summary['benchmark_duration']?.avg ?? NaN) / phaseSeconds(aiperf) : 1;
      for (const [stat, value] of Object.entries(ours)) {
        const expected = theirs?.[stat as 'avg'];
        if (typeof value !== 'number') continue;
        if (expected === undefined) throw new Error(`AIPerf has no ${stat} of ${tag}`);
        const tolerance = Math.max(Math.abs(expected) * 1e-9, COARSE.has(tag) ? 3e-4 * (ours.count ?? 1) : 1e-6);
        if (Math.abs(value * scale - expected) > tolerance)
          expect([tag, stat, value * scale]).toEqual([tag, stat, expected]);
      }
      compared.push(tag);
    }
    expect(compared).toEqual(expect.arrayContaining(['request_latency', 'http_req_connecting', 'benchmark_duration']));
    if (source === 'usage')
      expect(compared).toEqual(
        expect.arrayContaining([
          ...['usage_total_tokens', 'total_usage_total_tokens', 'usage_prompt_tokens_diff_pct'],
          ...['usage_completion_tokens_diff_pct', 'usage_discrepancy_count'],
        ]),
      );
    else
      expect(compared).toEqual(
        expect.arrayContaining(['output_sequence_length', 'osl_mismatch_diff_pct', 'total_osl']),
      );
    if (name === 'stream') {
      expect(compared).toEqual(
        expect.arrayContaining([
          'time_to_first_token',
          'time_to_first_output_token',
          'time_to_second_token',
          'inter_chunk_latency',
        ]),
      );
    }
  });

  test('of its metrics only these are missing', async () => {
    const own = new Set(Object.keys((await written(recordsOf(aiperf, 'usage'))).summary));
    const absent = Object.keys(aiperf.summary).filter((tag) => !own.has(tag));
    // HTTP steps and bytes of these runs are not recorded.
    const known =
      /^(aiperf_version|http_req_(blocked|dns_lookup|sending|waiting|receiving|duration|total|connection_overhead|data_.*|chunks_.*))$/;
    expect(absent.filter((tag) => !known.test(tag) && !(name === 'whole' && isSweep(tag)))).toEqual([]);
  });

  test('HTTP phases are written when the run was traced', async () => {
    const [first, ...others] = recordsOf(aiperf, 'usage');
    if (first === undefined) throw new Error('no record');
    const traced = {
      ...{ http_blocked_ns: 2e6, http_dns_lookup_ns: 3e6, http_connecting_ns: 5e6, http_tls_handshaking_ns: null },
      ...{ http_sending_ns: 1e6, http_waiting_ns: 20e6, http_receiving_ns: 100e6 },
      ...{ http_data_sent_bytes: 1500, http_data_received_bytes: 9000 },
    };
    const { summary } = await written([{ ...first, ...traced }, ...others.map((r) => ({ ...r, ...traced }))]);
    // AIPerf: duration = sending + waiting + receiving; overhead = blocked + look-up + connecting; total = both.
    expect(summary).toMatchObject({
      http_req_waiting: { max: 20, unit: 'ms' },
      http_req_duration: { max: 121, unit: 'ms' },
      http_req_connection_overhead: { max: 10, unit: 'ms' },
      http_req_total: { max: 131, unit: 'ms' },
      http_req_data_sent: { max: 1.5, unit: 'KB' },
    });
    for (const tag of ['http_req_blocked', 'http_req_total', 'http_req_data_received'])
      expect([tag, summary[tag]?.unit]).toEqual([tag, aiperf.summary[tag]?.unit]);
  });

  test('has the headers and the form of AIPerf’s CSV', async () => {
    const { csv } = await written(recordsOf(aiperf, 'usage'));
    const theirs = readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url), 'utf8').split('\r\n');
    const ours = csv.split('\r\n');
    expect(ours[0]).toBe(theirs[0]);
    expect(ours).toContain('Metric,Value');
    const names = (rows: readonly string[]): string[] => rows.map((row) => row.split(',')[0] ?? '');
    expect(names(theirs)).toEqual(expect.arrayContaining(names(ours)));
    // Two decimals of the same numbers, in the same columns.
    expect(theirs).toEqual(
      expect.arrayContaining(ours.filter((row) => /^(Request Latency|Usage |HTTP Conn)/.test(row))),
    );
  });
});

describe('concurrency', () => {
  test('is AIPerf’s when its window is widened to AIPerf’s phase', async () => {
    const aiperf = recorded('stream');
    const { summary } = await written(recordsOf(aiperf, 'usage'));
    const longer = phaseSeconds(aiperf) / (summary['benchmark_duration']?.avg ?? NaN);
    for (const tag of STEPS) {
      expect((summary[tag]?.avg ?? NaN) / longer).toBeCloseTo(aiperf.summary[tag]?.avg ?? NaN, 5);
      for (const stat of ['p50', 'p90', 'p95', 'p99', 'max'] as const) {
        expect([tag, stat, summary[tag]?.[stat]]).toEqual([tag, stat, aiperf.summary[tag]?.[stat]]);
      }
    }
  });
});

describe('sweep lines of throughput', () => {
  test('are AIPerf’s while their phase is active, whatever the window; over the window on average', async () => {
    const aiperf = recorded('stream');
    const { summary } = await written(recordsOf(aiperf, 'tokenizer'));
    const longer = phaseSeconds(aiperf) / (summary['benchmark_duration']?.avg ?? NaN);
    const tags = Object.keys(aiperf.summary).filter((tag) => isSweep(tag) && !STEPS.includes(tag));
    expect(tags).toHaveLength(11);
    for (const tag of tags) {
      const [ours, theirs] = [summary[tag], aiperf.summary[tag]];
      expect([tag, ours?.unit]).toEqual([tag, theirs?.unit]);
      const isActive = tag.startsWith('active');
      const avg = (ours?.avg ?? NaN) / (isActive ? 1 : longer);
      // AIPerf's moments are wall clocks as floats, which resolve 256 ns: short gaps move by that, and extremes with
      // them.
      expect([tag, avg / (theirs?.avg ?? NaN)]).toEqual([tag, expect.closeTo(1, 4)]);
      for (const stat of isActive ? (['p50', 'p90', 'p95'] as const) : [])
        expect([tag, stat, (ours?.[stat] ?? NaN) / (theirs?.[stat] ?? NaN)]).toEqual([tag, stat, expect.closeTo(1, 3)]);
    }
  });

  test('answers that reason have their thinking efficiency', async () => {
    const reasoned = [1, 2].map((i) => exampleRecord(i, { output_tokens: 30, reasoning_tokens: i * 10 }));
    const { summary } = await written(reasoned);
    // 10 of 20 others and 20 of 10; 30 of 30 altogether.
    expect(summary['thinking_efficiency']).toMatchObject({ unit: 'ratio', avg: 1.25, min: 0.5, max: 2 });
    expect(summary['overall_thinking_efficiency']).toEqual({ unit: 'ratio', avg: 1 });
  });
});

test('cached and reasoning tokens as the server reports them', async () => {
  const reported = { input_tokens: 100, output_tokens: 40, reasoning_tokens: 10 };
  const records = [25, 75].map((cached_tokens, i) =>
    exampleRecord(i + 1, { ...reported, cached_tokens, outcome: 'ok', reason: null }),
  );
  const { summary } = await written(records);
  expect(summary).toMatchObject({
    usage_prompt_cache_read_tokens: { unit: 'tokens', avg: 50, sum: 100 },
    total_usage_prompt_cache_read_tokens: { unit: 'tokens', avg: 100 },
    // 100 of 200.
    overall_usage_prompt_cache_read_pct: { unit: '%', avg: 50 },
    usage_reasoning_tokens: { unit: 'tokens', avg: 10 },
    total_usage_reasoning_tokens: { unit: 'tokens', avg: 20 },
  });
});

test('input tokens of failed requests', async () => {
  const failed = { outcome: 'error', reason: 'reset', input_tokens: null, input_tokens_source: null } as const;
  const { summary } = await written([1, 2].map((i) => exampleRecord(i, { ...failed, counted_input_tokens: 10 * i })));
  expect(summary).toMatchObject({ error_isl: { unit: 'tokens', avg: 15, max: 20 }, total_error_isl: { avg: 30 } });
});

test('a replayed schedule has its lag over the least late request, and is degraded above 500 ms', async () => {
  const late = [5, 5, 605].map((ms, i) =>
    exampleRecord(i + 1, { due_ns: 0, sent_ns: ms * 1e6, outcome: 'ok', reason: null }),
  );
  const load = { ...run.comparison_key.load, mode: 'trace' } as RunFile['comparison_key']['load'];
  const { summary } = await written(late, { ...run, comparison_key: { ...run.comparison_key, load } });
  // 0, 0 and 600 ms: p99 at rank 1.98.
  expect(summary['replay_sched_lag_p50']).toEqual({ unit: 'ms', avg: 0 });
  expect(summary['replay_sched_lag_p99']?.avg).toBeCloseTo(588, 6);
  expect(summary['replay_sched_degraded']).toEqual({ unit: 'count', avg: 1 });
  expect(Object.keys((await written(late)).summary).filter((tag) => tag.startsWith('replay'))).toEqual([]);
});

test('warm-up is left out, failures and cancelled requests are counted by their errors', async () => {
  const cancelled = exampleRecord(3, { outcome: 'cancelled', reason: 'cancelled', http_status: 200 });
  const { summary } = await written([0, 1, 2, 4].map((i) => exampleRecord(i)).concat(cancelled));
  expect(summary).toMatchObject({
    request_count: { avg: 2 },
    error_request_count: { avg: 1 },
    completed_request_count: { avg: 3 },
    was_cancelled: false,
    error_summary: [
      { error_details: { code: 503, type: 'http_5xx' }, count: 1 },
      { error_details: { code: 499, type: 'RequestCancellationError' }, count: 1 },
    ],
  });
});

test('the requests of a cool-down are left out: the files of AIPerf have no such phase', async () => {
  const { summary } = await written([
    exampleRecord(1),
    exampleRecord(2, { phase: 'cooldown' }),
    exampleRecord(3, { phase: 'cooldown', outcome: 'cancelled', reason: 'cancelled' }),
  ]);
  expect(summary).toMatchObject({ request_count: { avg: 1 } });
});

test('a run without requests has counts and no statistics', async () => {
  const { summary, csv } = await written([]);
  expect(summary['request_count']).toEqual({ unit: 'requests', avg: 0 });
  expect(Object.keys(summary)).not.toContain('request_latency');
  expect(csv).not.toMatch(/NaN|null|undefined/);
});

test('a run without a start time is refused, and nothing is written', async () => {
  await expect(written([], { ...run, start: null })).rejects.toMatchObject({ code: 'failed' });
  expect(await readdir(folder)).toEqual([]);
});
