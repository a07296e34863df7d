import { expect, test } from '@jest/globals';
import { searchedSweep } from './searched-sweep.ts';
import type { Sweep, SweepStep } from './sweep-shape.ts';

const sweep = {
  load_mode: 'concurrency',
  // As the whole runs say, with the requests that meet an idle server.
  steps: [1, 4, 5, 8].map((load) => ({ load, objective: 'not_met' }) as SweepStep),
  within_objective: { holds: null, fails: 1, monotonic: true },
} as unknown as Sweep;
const response = { load: 'concurrency', confirmed: true, confidence: 0.95, end: 'found' } as const;

test('the answer of the search replaces what the whole runs say', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 4, fails: 8 });
  expect(searched.within_objective).toEqual({ holds: 4, fails: 8, monotonic: true, confidence: 0.95 });
  expect(searched.steps.map(({ objective }) => objective)).toEqual(['met', 'met', 'undecided', 'not_met']);
});

test('bounds that are not confirmed have no confidence', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 4, fails: null, confirmed: false, end: 'budget' });
  expect(searched.within_objective).toEqual({ holds: 4, fails: null, monotonic: true });
  expect(searched.steps.map(({ objective }) => objective)).toEqual(['met', 'met', 'undecided', 'undecided']);
});

test('of a server that is not monotonic the loads keep their verdicts', () => {
  const searched = searchedSweep(sweep, { ...response, holds: 1, fails: 4, end: 'not_monotonic' });
  expect(searched.within_objective).toMatchObject({ holds: 1, fails: 4, monotonic: false });
  expect(searched.steps).toEqual(sweep.steps);
});

test.each([
  ['without an answer', { ...response, holds: null, fails: null }],
  ['for another load', { ...response, load: 'request_rate' as const, holds: 4, fails: 5 }],
])('a search %s changes nothing', (_, capacity) => {
  expect(searchedSweep(sweep, capacity)).toEqual(sweep);
});
