import { render, screen } from '@testing-library/react';
import React from 'react';
import type { DistributionResult, ResultFile, ScalarResult, StageResult } from '../../../../core/run/result.ts';
import { ModelTable, StageTable } from './StageTable.tsx';

const CLIENT = { origin: 'client', population: 'ok', clock: 'sent' } as const;

function stage(number: number, load: StageResult['load'], slos: string[], ttft: number | null): StageResult {
  const exact = (value: number | null) => ({ value, ci95: null, bounds: null });
  const percentiles = { p50: exact(ttft), p99: exact(ttft === null ? null : ttft * 2) };
  const measures = [
    { ...CLIENT, kind: 'scalar', measure: 'request_throughput', unit: 'requests_per_second', value: 4.5 },
    { ...CLIENT, kind: 'scalar', measure: 'output_token_throughput', unit: 'tokens_per_second', value: 250 },
    { ...CLIENT, kind: 'distribution', measure: 'time_to_first_token', unit: 'seconds', percentiles },
  ] as unknown as Array<ScalarResult | DistributionResult>;
  return {
    stage: number,
    load,
    requests: { ok: 90, error: 2, timeout: 1, cancelled: 0 },
    measures,
    slos: slos.map((verdict) => ({ verdict })),
  } as unknown as StageResult;
}

const RATE = { duration_seconds: 60, concurrency: null, request_rate: { start: 5, end: 20 } };
const FIXED = { duration_seconds: 30, concurrency: 64, request_rate: null };

const show = (stages: StageResult[]) => render(<StageTable result={{ stages } as unknown as ResultFile} />);
const cells = () =>
  screen.getAllByRole('row').map((row) => Array.from(row.querySelectorAll('th, td'), ({ textContent }) => textContent));

test('one row per stage with its load, its counts and its latencies; unknown is a dash', () => {
  show([stage(1, RATE, [], 0.1), stage(2, FIXED, [], null)]);
  expect(cells()).toEqual([
    [
      ...['Stage', 'Ok', 'Failed', 'Request throughput', 'Output throughput'],
      ...['TTFT p50', 'TTFT p99', 'ITL p50', 'ITL p99'],
    ],
    ['1 rate=5..20:60s', '90', '3', '4.50 requests/s', '250 tokens/s', '100 ms', '200 ms', '–', '–'],
    ['2 concurrency=64:30s', '90', '3', '4.50 requests/s', '250 tokens/s', '–', '–', '–', '–'],
  ]);
});

test('the worst verdict on the objectives of each stage', () => {
  show([
    stage(1, RATE, ['met', 'met'], 0.1),
    stage(2, FIXED, ['met', 'not_met'], 1),
    stage(3, FIXED, ['undecided'], 1),
  ]);
  expect(cells().map((row) => row.at(-1))).toEqual(['Objectives', 'met', 'not met', 'undecided']);
});

test('nothing for a run without stages', () => {
  const { container } = show([]);
  expect(container).toBeEmptyDOMElement();
});

test('one row per model with a verdict of its own; nothing for a run with one', () => {
  const { load: _load, ...part } = stage(1, RATE, ['not_met'], 0.1);
  const breakdown = [{ ...part, by: 'model', value: 'sql-lora' }];
  render(<ModelTable result={{ breakdown } as unknown as ResultFile} />);
  expect(cells()[1]).toEqual([
    'sql-lora',
    '90',
    '3',
    '4.50 requests/s',
    '250 tokens/s',
    '100 ms',
    '200 ms',
    '–',
    '–',
    'not met',
  ]);
  expect(render(<ModelTable result={{} as unknown as ResultFile} />).container).toBeEmptyDOMElement();
});

test('responses that were not streamed: documents and the whole latency, no columns without a value', () => {
  const exact = (value: number) => ({ value, ci95: null, bounds: null });
  const measures = [
    { ...CLIENT, kind: 'scalar', measure: 'document_throughput', unit: 'documents_per_second', value: 40 },
    { ...CLIENT, kind: 'distribution', measure: 'request_latency', percentiles: { p50: exact(0.2), p99: exact(0.5) } },
  ] as unknown as Array<ScalarResult | DistributionResult>;
  show([{ ...stage(1, FIXED, [], null), measures }]);
  expect(cells()).toEqual([
    ['Stage', 'Ok', 'Failed', 'Request throughput', 'Document throughput', 'E2E p50', 'E2E p99'],
    ['1 concurrency=64:30s', '90', '3', '–', '40 documents/s', '200 ms', '500 ms'],
  ]);
});
