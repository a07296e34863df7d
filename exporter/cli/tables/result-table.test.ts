import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { SummaryAccumulator } from '../../../core/measures/summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { DistributionResult, MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { exampleRecord } from '../../store/fixtures/example-run.ts';
import { UNKNOWN_HEALTH } from '../../store/sealed/seal-run.ts';
import { PLAIN } from './layout.ts';
import { resultTable, objectiveLines } from './result-table.ts';

function tableOf(
  records: readonly RequestRecord[],
  change = (measure: MeasureResult): MeasureResult => measure,
  width = Infinity,
  counts?: ResultFile['requests'],
): string {
  const summary = new SummaryAccumulator({ plannedConcurrency: 2 });
  records.forEach((record) => summary.add(record));
  const { requests, errors, measures } = summary.summarize(null);
  const result: ResultFile = {
    schema_version: 7,
    stages: [],
    run_id: 'table',
    status: 'completed',
    scenario: 'example',
    fingerprint: '',
    window: { start: null, end: null, seconds: 2.5 },
    requests: counts ?? requests,
    errors,
    client: { ...UNKNOWN_HEALTH, verdict: 'saturated', why: 'p99 event-loop delay 38 ms' },
    servers: null,
    slos: [],
    measures: measures.map(change),
  };
  return resultTable(result, { width, paint: PLAIN });
}

/** The cells of the row that begins so. */
function cells(table: string, name: string): string[] {
  const row = table.split('\n').find((line) => line.startsWith(name)) ?? '';
  return row.slice(name.length).trim().split(/ {2,}/);
}

const RUN = Array.from({ length: 11 }, (_, i) => exampleRecord(i));

test('every percentile has n and effective n, and too few values are reported', () => {
  // Requests 1 … 10 are measured, 4 and 9 fail: 8 values of 20 ms.
  const table = tableOf(RUN);
  expect(cells(table, 'time to first token (TTFT)')).toEqual([
    ...['20 ms', '20 ms', '20 ms', '20 ms', '20 ms', '20 ms'],
    ...['too few', '8', '8'],
  ]);
  expect(table).toContain('too few: fewer than five independent values');
});

test('failed requests are counted by reason, and stand a second time as infinitely slow', () => {
  const table = tableOf(RUN);
  expect(table).toContain('requests    ok 8 · error 2 · timeout 0 · cancelled 0\n');
  expect(table).toContain('errors      20 % (http_5xx 2)\n');
  const values = ['–', '20 ms', '–', '–', '–', '–', '–', '10', expect.any(String)];
  expect(cells(table, '  with failed as infinite')).toEqual(values);
  expect(tableOf(RUN.filter(({ outcome }) => outcome === 'ok'))).not.toContain('as infinite');
});

test('the client is judged', () => {
  expect(tableOf(RUN)).toContain('client      saturated: p99 event-loop delay 38 ms');
});

test('a count that an imported file did not report is unknown, not 0', () => {
  const unknown = { ok: 8, error: 2, timeout: null, cancelled: null };
  expect(tableOf(RUN, undefined, undefined, unknown)).toContain('ok 8 · error 2 · timeout unknown · cancelled unknown');
});

test('nothing measured: no table of absent values', () => {
  expect(tableOf([])).toContain('no successful request');
});

test('a summary that does not report n has its row, with n as absent', () => {
  const table = tableOf(RUN, (measure) =>
    measure.kind === 'distribution' ? { ...measure, n: null, effective_n: null } : measure,
  );
  expect(cells(table, 'time to first token (TTFT)').slice(-3)).toEqual(['–', '–', '–']);
});

/** Built once: its intervals take a while. */
const VARIED = variedResult();

describe('a run with goodput, objectives, servers and failed requests', () => {
  const goldenFile = (width: number): string =>
    readFileSync(new URL(`fixtures/result-${width}-columns.txt`, import.meta.url), 'utf8');

  test.each([60, 80, 100, 140])('on %i columns', (width) => {
    const table = resultTable(VARIED, { width, paint: PLAIN });
    expect(table).toBe(goldenFile(width));
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test.each([60, 80, 100, 140])('nothing that a file has is missing on %i columns', (width) => {
    const words = (text: string): string[] => [...new Set(text.split(/\s+/))].sort();
    expect(words(resultTable(VARIED, { width, paint: PLAIN }))).toEqual(words(resultTable(VARIED)));
  });

  test('every percentile of a latency is in the table as result.json has it', () => {
    const found = VARIED.measures.find(
      (each) => each.kind === 'distribution' && each.measure === 'request_latency' && each.clock === 'sent',
    );
    const { p50, p90, p95, p99 } = (found as DistributionResult).percentiles;
    const shown = cells(resultTable(VARIED), 'request latency (E2E)').slice(1, 5);
    expect(shown).toEqual([p50, p90, p95, p99].map(({ value }) => quantity(value, 'seconds')));
  });

  test('verdicts, and only they, are in color', () => {
    const table = resultTable(VARIED, { width: 80, paint: (verdict) => `«${verdict}»` });
    expect(table.match(/«[^»]+»/g)).toEqual(['«met»', '«NOT MET»', '«ok»', '«exact»']);
    expect(table.replace(/«([^»]+)»/g, '$1')).toBe(goldenFile(80));
  });
});

/** 1,000 requests with latencies of a fixed pseudo-random sequence; every 100th fails. */
function variedResult(): ResultFile {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const limits = [{ measure: 'time_to_first_token', limit: 0.2, unit: 'seconds' }] as const;
  const summary = new SummaryAccumulator({ plannedConcurrency: 8, goodput: limits });
  for (let i = 0; i < 1000; i++) {
    const sent_ns = Math.floor(i / 8) * 600_000_000 + (i % 8) * 1_000_000;
    const first_ns = Math.round(50_000_000 - 60_000_000 * Math.log(1 - random()));
    const gap_ns = Math.round(10_000_000 + 4_000_000 * random());
    const offsets = Array.from({ length: 16 }, (_, chunk) => first_ns + chunk * gap_ns);
    const last_ns = sent_ns + (offsets.at(-1) ?? 0);
    const failed = i % 100 === 99;
    const { input_tokens, chunk_offsets_ns, ...failure } = exampleRecord(4);
    const times = { phase: 'measure' as const, index: i, due_ns: sent_ns, sent_ns };
    summary.add(
      failed
        ? { ...failure, input_tokens, chunk_offsets_ns, ...times, end_ns: sent_ns + 5_000_000 }
        : exampleRecord(0, {
            ...times,
            ...{ first_content_ns: sent_ns + first_ns, first_output_ns: sent_ns + first_ns, last_content_ns: last_ns },
            ...{ end_ns: last_ns + 100_000, chunk_offsets_ns: offsets, output_tokens: 16, requested_output_tokens: 16 },
            input_tokens: 500 + Math.floor(100 * random()),
          }),
    );
  }
  const { requests, errors, measures } = summary.summarize(null);
  const slo = { stat: 'p95', comparison: '<', unit: 'seconds', why: null } as const;
  return {
    schema_version: 7,
    stages: [],
    run_id: 'table',
    status: 'completed',
    scenario: 'example',
    fingerprint: '',
    window: { start: null, end: null, seconds: 75 },
    requests,
    errors,
    client: { ...UNKNOWN_HEALTH, verdict: 'ok', why: null },
    servers: {
      exact: true,
      why: null,
      requests: { family: 'f', population: '', server: 990, client: 990, difference: 0 },
      gpu_energy: {
        ...{ joules: 250, watts: 3.33, idle_watts: 2, gpus: 1, source: 'power', resolution_seconds: 1, by_gpu: [] },
      },
      collector: { interval_seconds: 1, cpu_seconds: 0.1, cpu_share: 0.05 },
      targets: [
        {
          ...{ target: 'http://127.0.0.1:8000/metrics', system: 'vllm', state: 'up', scrapes: 75, failed_scrapes: 0 },
          ...{ skipped_scrapes: 0, scrape_duration_seconds: { p50: 0.0072, p99: 0.128 }, restarts: 0 },
          ...{ dropped_series: 0, dropped_samples: 0, notes: [] },
        },
      ],
    },
    slos: [
      { ...slo, measure: 'request_latency', limit: 1, value: 0.4, interval: [0.39, 0.42], verdict: 'met' },
      { ...slo, measure: 'time_to_first_token', limit: 0.2, value: 0.23, interval: [0.22, 0.25], verdict: 'not_met' },
    ],
    measures,
  };
}

const SLO = { measure: 'time_to_first_token', stat: 'p95', comparison: '<', limit: 0.3, unit: 'seconds' } as const;

test('one line per objective, with its evidence', () => {
  const lines = objectiveLines([
    { ...SLO, value: 0.25, interval: [0.24, 0.26], verdict: 'met', why: null },
    { ...SLO, value: 0.35, interval: [0.34, 0.36], verdict: 'not_met', why: null },
    { ...SLO, value: null, interval: null, verdict: 'undecided', why: 'the run has no value for it' },
  ]);
  expect(lines).toEqual([
    'SLO         met: time_to_first_token:p95<300ms (250 ms; 95 % interval 240 ms to 260 ms)',
    'SLO         NOT MET: time_to_first_token:p95<300ms (350 ms; 95 % interval 340 ms to 360 ms)',
    'SLO         undecided: time_to_first_token:p95<300ms (–; the run has no value for it)',
  ]);
});

test('a model without objectives of its own has no verdict in the table of models', () => {
  const part = { by: 'model', requests: { ok: 1, error: 0, timeout: 0, cancelled: 0 }, measures: [] } as const;
  const met = { ...SLO, value: 0.25, interval: null, verdict: 'met', why: null } as const;
  const lines = resultTable({
    ...variedResult(),
    breakdown: [
      { ...part, value: 'a', slos: [met] },
      { ...part, value: 'other' },
    ],
  }).split('\n');
  expect(lines.find((line) => line.startsWith('a '))).toMatch(/ met$/);
  expect(lines.find((line) => line.startsWith('other '))).toMatch(/ –$/);
});
