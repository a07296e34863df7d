import { expect, test } from '@jest/globals';
import { wholeName } from './short-names.ts';

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
