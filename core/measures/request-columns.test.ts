import { describe, expect, test } from '@jest/globals';
import { FigureRow } from './request-columns.ts';
import { FIGURE_NAMES } from './request-figures.ts';

describe('a row of figures', () => {
  test('is read by the names of the figures', () => {
    const row = new FigureRow(FIGURE_NAMES.map((_, i) => Float64Array.of(i, 100 + i)));
    for (row.row of [0, 1]) {
      expect(FIGURE_NAMES.map((name) => row[name])).toEqual(FIGURE_NAMES.map((_, i) => row.row * 100 + i));
    }
  });

  test('what is not known is null', () => {
    const row = new FigureRow(FIGURE_NAMES.map(() => Float64Array.of(NaN)));
    expect([row.first_content_ns, row.output_tokens, row.http_waiting_ns]).toEqual([null, null, null]);
  });
});
