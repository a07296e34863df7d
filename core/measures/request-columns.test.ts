import { describe, expect, test } from '@jest/globals';
import { FigureRow } from './request-columns.ts';
import { FIGURE_NAMES } from './request-figures.ts';

describe('a row of figures', () => {
  const block = Float64Array.from({ length: 2 * FIGURE_NAMES.length }, (_, i) => i);

  test('is read by the names of the figures, wherever it lies', () => {
    const row = new FigureRow();
    for (const start of [0, FIGURE_NAMES.length]) {
      row.moveTo(block, start);
      expect(FIGURE_NAMES.map((name) => row[name])).toEqual(FIGURE_NAMES.map((_, i) => start + i));
    }
  });

  test('what is not known is null', () => {
    const row = new FigureRow();
    row.moveTo(new Float64Array(FIGURE_NAMES.length).fill(NaN), 0);
    expect([row.first_content_ns, row.output_tokens, row.http_waiting_ns]).toEqual([null, null, null]);
  });
});
