import { expect, test } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { parseSequenceDistribution } from './lengths.ts';

const pair = (isl: number, islStddev: number, osl: number, oslStddev: number, share: number): object => ({
  input: { mean: isl, stddev: islStddev },
  output: { mean: osl, stddev: oslStddev },
  share,
});

test.each([
  ['256,128:60;512,256:40', [pair(256, 0, 128, 0, 0.6), pair(512, 0, 256, 0, 0.4)]],
  ['64|10,32|8:70; 256|40,128:30;', [pair(64, 10, 32, 8, 0.7), pair(256, 40, 128, 0, 0.3)]],
  ['[(256,128):60,(512|20,256|15):40]', [pair(256, 0, 128, 0, 0.6), pair(512, 20, 256, 15, 0.4)]],
  ['{"pairs":[{"isl":256,"isl_stddev":10,"osl":128,"prob":100}]}', [pair(256, 10, 128, 0, 1)]],
])('%s', (text, pairs) => {
  expect(parseSequenceDistribution(text)).toEqual(pairs);
});

test.each([
  ['256,128:60', 'the percentages add up to 60, not to 100'],
  ['', 'the percentages add up to 0, not to 100'],
  ['256:100', "'256:100' must be ISL,OSL:PERCENT"],
  ['0,128:100', 'isl is 0 and must be a number from 1 to 10000000'],
  ['a,128:100', 'isl is not a number and must be'],
  ['256|-1,128:100', 'isl_stddev is -1 and must be a number from 0'],
  ['256,128:101', 'prob is 101 and must be a number from 0 to 100'],
  ['[(256,128):60', 'the closing ] is missing'],
  ['[256,128:100]', "'256,128:100' must be (ISL,OSL):PERCENT"],
  ['{"pairs"', 'it begins with { and is not valid JSON'],
  ['{"pair":[]}', 'the list pairs is missing'],
  [
    '{"pairs":[{"isl":1,"osl":1,"prob":100,"x":1}]}',
    'unknown key x; allowed are isl, isl_stddev, osl, osl_stddev, prob',
  ],
])('%j is refused', (text, problem) => {
  const parse = (): unknown => parseSequenceDistribution(text);
  expect(parse).toThrow(ConfigurationError);
  expect(parse).toThrow(`--seq-dist '${text}': ${problem}`);
});
