import { expect, test } from '@jest/globals';
import { objectiveLines } from './objective-lines.ts';

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
