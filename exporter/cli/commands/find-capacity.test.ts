import { expect, test } from '@jest/globals';
import { exampleCapacity } from '../../store/fixtures/example-capacity.ts';
import { capacityTable, probeLine } from './find-capacity.ts';

test('a client that was the limit at the failing load is stated, at others it decides nothing', () => {
  const [holds, fails] = exampleCapacity().probes;
  if (holds === undefined || fails === undefined) throw new Error('the example has two probes');
  const late = { ...fails, client: 'saturated' } as const;
  const file = exampleCapacity({ probes: [holds, late] });
  expect(capacityTable(file)).toContain('\nclient      saturated at concurrency 9, which fails: the capacity may be');
  expect(probeLine(file, late)).toMatch(/; client saturated$/);
  const decided = exampleCapacity({ probes: [{ ...holds, client: 'saturated' }, fails] });
  expect(capacityTable(decided)).not.toContain('client ');
});

test('the probes by load, what they used, and the answer', () => {
  const [holds, fails] = exampleCapacity().probes;
  if (holds === undefined || fails === undefined) throw new Error('the example has two probes');
  const why = 'requests in flight grew from 9.00 requests to 20.0 requests within 12.0 s (p = 1e-5)';
  const first = { ...holds, load: 1, conclusive: false };
  const file = exampleCapacity({ probes: [{ ...fails, why }, holds, first] });
  expect(capacityTable(file).split('\n')).toEqual([
    'concurrency  verdict  time_to_first_token:p95<300ms    n  sent    time',
    '1             holds?                         210 ms  130   146  12.5 s',
    '8              holds                         210 ms  130   146  12.5 s',
    '9              fails                         420 ms  130   146  12.5 s',
    `concurrency 9: ${why}`,
    'holds?: enough to choose the next load, not to confirm this one',
    '',
    'used        420 requests, 13,440 output tokens, 61.5 s',
    'capacity    holds up to concurrency 8, fails from concurrency 9 (95 % confidence)',
  ]);
  expect(probeLine(file, holds)).toBe('concurrency 8 holds; time_to_first_token:p95<300ms: 210 ms (n = 130)');
});
