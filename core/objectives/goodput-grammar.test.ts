import { expect, test } from '@jest/globals';
import { parseGoodput } from './goodput-grammar.ts';

test("limits in AIPerf's display units", () => {
  expect(parseGoodput(' time_to_first_token:300  output_token_throughput_per_user:12.5 request_latency:2e3')).toEqual([
    { measure: 'time_to_first_token', limit: 0.3, unit: 'seconds' },
    { measure: 'output_token_throughput_per_user', limit: 12.5, unit: 'tokens_per_second' },
    { measure: 'request_latency', limit: 2, unit: 'seconds' },
  ]);
});

test("the short words of vLLM's --goodput", () => {
  expect(parseGoodput('ttft:300 tpot:50 e2el:1000')).toEqual(
    parseGoodput('time_to_first_token:300 inter_token_latency:50 request_latency:1000'),
  );
});

test('a near name is proposed', () => {
  expect(() => parseGoodput('time_to_first_tokn:300')).toThrow('; did you mean time_to_first_token?');
});

test.each([
  ['', 1, 'a measure and its limit, such as time_to_first_token:300'],
  ['tttf:300', 1, 'the name of a measure; did you mean ttft?'],
  ['qqqq:300', 1, 'the name of a measure, in short ttft,'],
  ['time_to_first_token:300 inter_chunk_latency:5', 25, 'the name of a measure'],
  ['time_to_first_token:300 output_sequence_length:5', 25, 'the name of a measure'],
  ['time_to_first_token', 20, '":" and a number of milliseconds'],
  ['time_to_first_token:300ms', 20, '":" and a number of milliseconds'],
  ['time_to_first_token:-1', 20, '":" and a number of milliseconds'],
  ['prefill_throughput_per_user:x', 28, '":" and a number of tokens per second'],
  ['time_to_first_token:3 time_to_first_token:4', 23, 'time_to_first_token has a limit already'],
  ['itl:3 tpot:4', 7, 'inter_token_latency has a limit already'],
])("'%s' is refused", (text, character, expected) => {
  expect(() => parseGoodput(text)).toThrow(`'${text}', character ${character}: ${expected}`);
});
