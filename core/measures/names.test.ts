import { expect, test } from '@jest/globals';
import { DISTRIBUTION_MEASURES } from './measures.ts';
import {
  capitalized,
  longTitle,
  measureOfName,
  measureTitle,
  publishedName,
  shortTitle,
  statisticTitle,
  wholeName,
} from './names.ts';

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

test('headings and columns have the short words of the field', () => {
  expect(longTitle({ measure: 'time_to_first_token', clock: 'due' })).toBe(
    'time to first token (TTFT) from the due time',
  );
  expect(longTitle({ measure: 'error_ratio', clock: 'sent' })).toBe('error ratio');
  expect(shortTitle('time_to_first_token', 'p99_9')).toBe('TTFT p99.9');
  expect(shortTitle('error_ratio')).toBe('error ratio');
});

test('the name is published with the clock where a measure has two, and read back', () => {
  const names = DISTRIBUTION_MEASURES.map(publishedName);
  expect(names).toEqual(expect.arrayContaining(['time_to_first_token_from_due', 'schedule_delay', 'request_latency']));
  expect(new Set(names).size).toBe(DISTRIBUTION_MEASURES.length);
  expect(names.map(measureOfName)).toEqual(DISTRIBUTION_MEASURES.map(({ measure, clock }) => ({ measure, clock })));
});

test.each([
  ['ttft', 'time_to_first_token'],
  ['ttft_from_due', 'time_to_first_token_from_due'],
  // What vLLM and SGLang call TPOT is AIPerf's ITL.
  ['tpot', 'inter_token_latency'],
  ['itl', 'inter_token_latency'],
  ['e2el', 'request_latency'],
  ['request_latency', 'request_latency'],
  ['constructor', 'constructor'],
  ['', ''],
])('%s is %s', (name, whole) => {
  expect(wholeName(name)).toBe(whole);
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
