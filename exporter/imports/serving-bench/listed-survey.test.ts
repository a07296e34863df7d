import { expect, test } from '@jest/globals';
import { ImportNotes } from '../import-notes.ts';
import { GapValues } from './listed-survey.ts';

const IDENTITY = { measure: 'inter_chunk_latency', definition: 'gap_between_chunks' };
/** 1 … 1000 ms, in another order. */
const GAPS = Array.from({ length: 1000 }, (_, i) => (((i * 7) % 1000) + 1) / 1000);

function filled(mostExact: number): GapValues {
  const values = new GapValues(mostExact);
  for (const gap of GAPS) values.append(gap);
  return values;
}

test('up to the limit they are exact', () => {
  const stated = filled(1000).stated(IDENTITY);
  // numpy.percentile(arange(1, 1001), 90) is 900.1.
  expect(stated?.percentiles.p90).toMatchObject({ bounds: null });
  expect(stated?.percentiles.p90.value).toBeCloseTo(0.9001, 12);
  expect(stated).toMatchObject({ n: 1000, definition: 'gap_between_chunks', min: 0.001, max: 1 });
});

test('above it percentiles carry bounds of less than 0.8 %, and hold the exact ones', () => {
  const stated = filled(999).stated(IDENTITY);
  const [low, high] = stated?.percentiles.p90.bounds ?? [NaN, NaN];
  expect(low).toBeLessThanOrEqual(0.9001);
  expect(high).toBeGreaterThanOrEqual(0.9001);
  expect(high / low).toBeLessThan(1.016);
  expect(stated?.n).toBe(1000);
  expect(stated?.mean).toBeCloseTo(0.5005, 9);
});

test.each([1000, 999])('what a file reports of them is checked, with %i held', (mostExact) => {
  const check = (percentiles: Map<number, number>, mean: number | null = null): readonly string[] => {
    const notes = new ImportNotes();
    filled(mostExact).check('itl', { mean, std: null, min: null, max: null, percentiles }, notes);
    return notes.disagreements;
  };
  expect(check(new Map([[0.9, 0.9001]]), 0.5005)).toEqual([]);
  expect(check(new Map([[0.9, 0.92]]), 0.6)).toEqual([
    expect.stringMatching(/^itl mean: the file states 0\.6 seconds, its own values result in 0\.5005/),
    expect.stringMatching(/^itl p90: the file states 0\.92 seconds, its own values /),
  ]);
});

test('nothing is no distribution', () => {
  expect(new GapValues().stated(IDENTITY)).toBeNull();
});
