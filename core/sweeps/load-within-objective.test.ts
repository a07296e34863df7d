import type { ObjectiveVerdict } from '../run/objectives.ts';
import { expect, test } from '@jest/globals';
import { loadWithinObjective } from './load-within-objective.ts';

const steps = (...objectives: (ObjectiveVerdict | null)[]): { load: number; objective: ObjectiveVerdict | null }[] =>
  objectives.map((objective, i) => ({ load: 2 ** i, objective }));

test.each([
  [steps('met', 'met', 'not_met', 'not_met'), { holds: 2, fails: 4, monotonic: true }],
  [steps('met', 'met'), { holds: 2, fails: null, monotonic: true }],
  [steps('not_met', 'not_met'), { holds: null, fails: 1, monotonic: true }],
  // An undecided step and one without runs are neither.
  [steps('met', 'undecided', null, 'not_met'), { holds: 1, fails: 8, monotonic: true }],
  [steps('undecided', null), { holds: null, fails: null, monotonic: true }],
  // Met again above a load that fails: the smaller one counts.
  [steps('met', 'not_met', 'met'), { holds: 1, fails: 2, monotonic: false }],
])('case %#', (given, expected) => {
  expect(loadWithinObjective(given)).toEqual(expected);
});

test('without objectives there is none', () => {
  expect(loadWithinObjective(steps(null, null))).toBeNull();
});
