import { expect, test } from '@jest/globals';
import { SummaryAccumulator } from '../../../core/measures/summary.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { exampleRecord } from '../../store/fixtures/example-run.ts';
import { UNKNOWN_HEALTH } from '../../store/sealed/run-result.ts';
import { resultTable } from './result-table.ts';

function tableOf(
  records: readonly RequestRecord[],
  change = (measure: MeasureResult): MeasureResult => measure,
  width?: number,
  counts?: ResultFile['requests'],
): string {
  const summary = new SummaryAccumulator({ plannedConcurrency: 2 });
  records.forEach((record) => summary.add(record));
  const { requests, errors, measures } = summary.summarize(null);
  const result: ResultFile = {
    schema_version: 2,
    run_id: 'table',
    status: 'completed',
    scenario: 'example',
    fingerprint: '',
    window: { start: null, end: null, seconds: 2.5 },
    requests: counts ?? requests,
    errors,
    client: { ...UNKNOWN_HEALTH, verdict: 'saturated', why: 'p99 event-loop delay 38 ms' },
    servers: {},
    slos: [],
    measures: measures.map(change),
  };
  return resultTable(result, width);
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
  expect(cells(table, 'time to first token')).toEqual(
    ['8', '8', '20 ms', '20 ms', '20 ms', '20 ms', 'too few', '20 ms'].map((cell) => cell),
  );
  expect(table).toContain('too few: fewer than five independent values');
});

test('failed requests are counted by reason, and stand a second time as infinitely slow', () => {
  const table = tableOf(RUN);
  expect(table).toContain('ok 8 · error 2 · timeout 0 · cancelled 0  (http_5xx 2)');
  expect(cells(table, '  including failed, as infinite')).toEqual([
    '10',
    expect.any(String),
    '–',
    '20 ms',
    '–',
    '–',
    '–',
    '–',
  ]);
  expect(tableOf(RUN.filter(({ outcome }) => outcome === 'ok'))).not.toContain('as infinite');
});

test.each([
  [130, ['effective n', 'p99 95 % interval', 'mean', 'p99', 'max'], []],
  [118, ['n', 'p99 95 % interval', 'mean', 'p50', 'max'], ['effective n']],
  [80, ['p50', 'p90', 'p99', 'max'], ['effective n', 'p99 95 % interval']],
])('on %i columns the table has what fits', (width, shown, left) => {
  const lines = tableOf(RUN, undefined, width).split('\n');
  const head = lines.findIndex((line) => / p50 /.test(line));
  const names = (lines[head] ?? '').trim().split(/ {2,}/);
  expect(names).toEqual(expect.arrayContaining(shown));
  for (const name of left) expect(names).not.toContain(name);
  for (const line of lines.slice(head, head + 9)) expect(line.length).toBeLessThanOrEqual(width);
  expect(cells(lines.join('\n'), 'time to first token').at(-1)).toBe('20 ms');
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
  expect(cells(table, 'time to first token').slice(0, 3)).toEqual(['–', '–', '20 ms']);
});

test('long facts go on below their text', () => {
  const summary = tableOf(RUN, undefined, 60);
  const client = summary.split('\n').filter((line) => /^client|^ {12}\S/.test(line));
  expect(client.every((line) => line.length <= 60)).toBe(true);
  expect(summary).toContain('ok 8 · error 2 · timeout 0 · cancelled 0\n            (http_5xx 2)\n');
});
