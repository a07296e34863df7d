import { describe, expect, test } from '@jest/globals';
import { parseStages, type StageLimits } from './stage-grammar.ts';

const LIMITS: StageLimits = { mostConcurrency: 1000, rate: { min: 1e-6, max: 1e6 }, mostSeconds: 604_800 };
const parse = (text: string) => parseStages(text, LIMITS);

test('rates, ramps and concurrencies with units of time', () => {
  expect(parse('rate=5:60s,rate=0..20:1.5m, concurrency=64:2h,rate=1e-3:500ms')).toEqual([
    { kind: 'rate', from: 5, to: 5, seconds: 60 },
    { kind: 'rate', from: 0, to: 20, seconds: 90 },
    { kind: 'concurrency', concurrency: 64, seconds: 7200 },
    { kind: 'rate', from: 0.001, to: 0.001, seconds: 0.5 },
  ]);
});

describe('a mistake names the stage, the character and what was expected', () => {
  test.each([
    ['', "stage 1, '', character 1: rate= or concurrency="],
    ['rate=5:60s,', "stage 2, '', character 1: rate= or concurrency="],
    ['rate=5', `stage 1, 'rate=5', character 7: ":" and the duration of the stage`],
    ['rate=5:60', "stage 1, 'rate=5:60', character 10: a unit of the duration, one of ms, s, m, h"],
    ['rate=5:s', "stage 1, 'rate=5:s', character 8: the duration of the stage, a number with its unit"],
    ['rate=5:60s, rate=7:6q', "stage 2, ' rate=7:6q', character 10: a unit of the duration, one of ms, s, m, h"],
    ['concurrency=2.5:3s', "stage 1, 'concurrency=2.5:3s', character 13: a whole number from 1 to 1000"],
    ['concurrency=1001:3s', "stage 1, 'concurrency=1001:3s', character 13: a whole number from 1 to 1000"],
    ['concurrency=3..5:3s', "stage 1, 'concurrency=3..5:3s', character 13: a whole number from 1 to 1000"],
    ['rate=-1:3s', "stage 1, 'rate=-1:3s', character 6: a number"],
    [
      'rate=0:3s',
      "stage 1, 'rate=0:3s', character 6: requests per second from 0.000001 to 1000000; a ramp may begin or end at 0",
    ],
    ['rate=1:0s', "stage 1, 'rate=1:0s', character 8: a duration from 0.1s to 604800s"],
  ])('%s', (text, expected) => {
    let message = '';
    try {
      parse(text);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toBe(`stages such as rate=5:60s,concurrency=64:2m; ${expected}`);
  });

  test('too many', () => {
    expect(() => parse(Array(51).fill('rate=1:1s').join())).toThrow('at most 50 stages; these are 51');
  });
});
