import { render, screen } from '@testing-library/react';
import React from 'react';
import type { BreakdownResult, ResultFile } from '../../../../core/run/result.ts';
import { TurnTable } from './TurnTable.tsx';

const CLIENT = { origin: 'client', population: 'ok', clock: 'sent' } as const;

function turns(value: string, p50: number | null, p99: number | null): BreakdownResult {
  const exact = (at: number | null) => ({ value: at, ci95: null, bounds: null });
  return {
    by: 'turn',
    value,
    requests: { ok: 90, error: 2, timeout: 1, cancelled: 0 },
    measures: [
      { ...CLIENT, kind: 'distribution', measure: 'input_sequence_length', unit: 'tokens', mean: 1200 },
      { ...CLIENT, kind: 'scalar', measure: 'cached_input_ratio', unit: 'ratio', value: 0.75 },
      {
        ...CLIENT,
        kind: 'distribution',
        measure: 'time_to_first_token',
        percentiles: { p50: exact(p50), p99: exact(p99) },
      },
    ],
  } as unknown as BreakdownResult;
}

const duration = (measure: string, mean: number) => ({
  ...CLIENT,
  kind: 'distribution',
  measure,
  unit: 'seconds',
  mean,
});

test('a row per class of turns, with bars from the median to p99 on one axis', () => {
  const result = {
    breakdown: [turns('first', 0.1, 0.2), turns('later', 0.2, 0.4), turns('2', null, null)],
    conversations: { complete: 88, incomplete: 4 },
    measures: [duration('conversation_duration', 12), duration('conversation_serving_time', 3)],
  } as unknown as ResultFile;
  const { container } = render(<TurnTable result={result} />);
  const cells = screen
    .getAllByRole('row')
    .map((row) => Array.from(row.querySelectorAll('th, td'), (c) => c.textContent));
  expect(cells).toEqual([
    ['Turn', 'Ok', 'Failed', 'Mean input', 'Cache hits', 'TTFT p50 – p99', 'ITL p50 – p99', 'E2E p50 – p99'],
    ['first', '90', '3', '1,200 tokens', '75 %', '100 ms – 200 ms', '–', '–'],
    ['later', '90', '3', '1,200 tokens', '75 %', '200 ms – 400 ms', '–', '–'],
    ['2', '90', '3', '1,200 tokens', '75 %', '–', '–', '–'],
  ]);
  expect(
    Array.from(container.querySelectorAll('rect'), (bar) => [bar.getAttribute('x'), bar.getAttribute('width')])
  ).toEqual([
    ['30', '30'],
    ['60', '60'],
  ]);
  expect(container).toHaveTextContent(
    'Conversations: 88 complete, 4 incomplete; mean duration 12 s, of which 3 s with a request in flight.'
  );
});

test('nothing for a run without conversations', () => {
  const { container } = render(<TurnTable result={{ measures: [] } as unknown as ResultFile} />);
  expect(container).toBeEmptyDOMElement();
});
