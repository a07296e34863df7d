import { expect, test } from '@jest/globals';
import { capitalized, measureTitle, statisticTitle } from './names.ts';

test.each([
  ['time_to_first_token', 'sent', 'time to first token'],
  ['time_to_first_token', 'due', 'time to first token from the due time'],
  ['schedule_delay', 'due', 'schedule delay'],
  ['inter_token_latency', 'sent', 'inter-token latency'],
  ['http_req_waiting', 'sent', 'HTTP request waiting'],
  ['error_ratio', 'sent', 'error ratio'],
] as const)('%s (%s) is written as %s', (measure, clock, title) => {
  expect(measureTitle({ measure, clock })).toBe(title);
});

test('a statistic names what it is of where that is not the usual', () => {
  const ttft = { measure: 'time_to_first_token', clock: 'sent' } as const;
  expect(statisticTitle({ ...ttft, stat: 'p99_9' })).toBe('time to first token p99.9');
  expect(statisticTitle({ ...ttft, stat: 'p50', population: 'all' })).toBe(
    'time to first token p50 (failed requests as infinitely slow)',
  );
  expect(statisticTitle({ ...ttft, stat: 'mean', origin: 'server' })).toBe(
    'time to first token mean (reported by the server)',
  );
  expect(statisticTitle({ measure: 'error_ratio', clock: 'sent', stat: 'value', population: 'all' })).toBe(
    'error ratio',
  );
  expect(capitalized('inter-token latency p50')).toBe('Inter-token latency p50');
});
