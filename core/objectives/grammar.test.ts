import { describe, expect, test } from '@jest/globals';
import { GrammarError, parseObjective, objectiveText, parseGoodput } from './grammar.ts';

describe('what an objective says', () => {
  test.each([
    ['time_to_first_token:p95<300ms', 'time_to_first_token', 'p95', '<', 0.3, 'seconds'],
    ['time_to_first_token_from_due:p99.9 <= 1.5 s', 'time_to_first_token_from_due', 'p99_9', '<=', 1.5, 'seconds'],
    ['inter_chunk_latency:p99_9<250us', 'inter_chunk_latency', 'p99_9', '<', 0.00025, 'seconds'],
    ['schedule_delay:max<5e3µs', 'schedule_delay', 'max', '<', 0.005, 'seconds'],
    ['request_throughput>10requests/s', 'request_throughput', null, '>', 10, 'requests_per_second'],
    ['output_token_throughput>=1e4 tokens/s', 'output_token_throughput', null, '>=', 10_000, 'tokens_per_second'],
    ['error_ratio<=0.7%', 'error_ratio', null, '<=', 0.007, 'ratio'],
    ['ttft{turn=first}:p90<300ms', 'time_to_first_token{turn=first}', 'p90', '<', 0.3, 'seconds'],
    ['error_ratio{model=sql-lora}<1%', 'error_ratio{model=sql-lora}', null, '<', 0.01, 'ratio'],
    ['goodput>3requests/s', 'goodput', null, '>', 3, 'requests_per_second'],
    ['output_sequence_length:mean>100tokens', 'output_sequence_length', 'mean', '>', 100, 'tokens'],
  ])('%s', (text, measure, stat, comparison, limit, unit) => {
    expect(parseObjective(text)).toEqual({ measure, stat, comparison, limit, unit });
  });

  test.each([
    ['ttft:p95<300ms', 'time_to_first_token:p95<300ms'],
    ['ttft_from_due:p95<300ms', 'time_to_first_token_from_due:p95<300ms'],
    ['tpot:mean<50ms', 'inter_token_latency:mean<50ms'],
    ['e2e:p99<3s', 'request_latency:p99<3s'],
  ])('%s is short for %s', (short, whole) => expect(parseObjective(short)).toEqual(parseObjective(whole)));

  test.each([
    'time_to_first_token:p95<300ms',
    'request_latency:p99.9>=12.5ms',
    'error_ratio<1%',
    'time_to_first_token{turn=later}:p95<300ms',
    'goodput>3requests/s',
    'energy_per_output_token<=1.5J/token',
    'cost_per_million_output_tokens<0.5/Mtoken',
  ])('%s can be written and read again', (text) => expect(objectiveText(parseObjective(text))).toBe(text));
});

test.each([
  ['time_to_first_tokens:p95<3s', 'time_to_first_token'],
  ['request_latncy:p95<3s', 'request_latency'],
  ['error_rate<1%', 'error_ratio'],
])("'%s' is answered with the name that was meant", (text, meant) => {
  expect(() => parseObjective(text)).toThrow(`; did you mean ${meant}?`);
});

describe('what is no objective: where it stops to be one, and what was expected', () => {
  test.each([
    ['time_to_first_token:p95<300', 28, 'the unit is missing: one of ns, us, µs, ms, s'],
    ['time_to_first_token:p95<300min', 28, 'a unit, one of ns, us, µs, ms, s'],
    ['time_to_first_token:p95<300ms or so', 30, 'the end, after the unit'],
    ['time_to_first_token:p95<ms', 25, 'a number'],
    ['time_to_first_token:p95<-1ms', 25, 'a number'],
    ['time_to_first_token:p95=300ms', 24, 'a comparison, one of < <= > >='],
    ['time_to_first_token:p95', 24, 'a comparison, one of < <= > >='],
    ['time_to_first_token:p42<3s', 21, 'a statistic, one of p1, p5, p10'],
    ['time_to_first_token<3s', 20, '":" and a statistic of time_to_first_token, one of p1'],
    ['tttf:p95<3s', 1, 'the name of a measure; did you mean ttft?'],
    ['qqqq:p95<3s', 1, 'the name of a measure, in short ttft,'],
    ['', 1, 'the name of a measure'],
    ['error_ratio:p95<1%', 12, 'error_ratio is one number and has no statistic'],
    ['ttft{turn=frist}:p90<300ms', 5, 'which requests: {turn=first}, {turn=later} or {model=NAME}'],
    ['ttft{turn=first:p90<300ms', 5, 'which requests'],
    ['output_token_throughput{turn=first}>1tokens/s', 24, 'output_token_throughput is one of all requests together'],
    ['error_ratio<0.01', 17, 'the unit is missing: one of %'],
    ['error_ratio<1toString', 14, 'a unit, one of %'],
  ])("'%s'", (text, character, expected) => {
    expect(() => parseObjective(text)).toThrow(GrammarError);
    expect(() => parseObjective(text)).toThrow(`'${text}', character ${character}: ${expected}`);
  });
});

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
