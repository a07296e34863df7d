import { describe, expect, test } from '@jest/globals';
import { LOAD_OPTIONS, loadSteps, requestedLoad } from './load-options.ts';
import { readOptions } from './options.ts';

const read = (argv: string) => readOptions(LOAD_OPTIONS, argv === '' ? [] : argv.split(' '), {});

function load(argv: string) {
  const options = read(argv);
  const [step] = loadSteps(options);
  if (step === undefined) throw new Error('there is no step');
  return requestedLoad(options, step);
}

const PLAIN = { concurrency: null, concurrencyRampSeconds: 0, prefillConcurrency: null, rate: null };

describe('what is asked for', () => {
  test('a closed loop', () => {
    expect(load('--concurrency 8 --concurrency-ramp-duration 3 --request-count 10')).toMatchObject({
      load: { ...PLAIN, concurrency: 8, concurrencyRampSeconds: 3 },
      requestCount: 10,
      durationSeconds: null,
      gracePeriodSeconds: 30,
      warmup: null,
      cancellation: null,
      fixedSchedule: null,
    });
  });

  test('a rate, poisson unless said otherwise, without a limit', () => {
    expect(load('--request-rate 2.5 --benchmark-duration 60').load).toEqual({
      ...PLAIN,
      rate: { requestRate: 2.5, pattern: 'poisson', smoothness: 1, rampSeconds: 0 },
    });
    const gamma = '--arrival-pattern gamma --arrival-smoothness 0.5 --request-rate-ramp-duration 10';
    expect(load(`--request-rate 4 --concurrency 32 ${gamma} --request-count 5`).load).toEqual({
      ...PLAIN,
      concurrency: 32,
      rate: { requestRate: 4, pattern: 'gamma', smoothness: 0.5, rampSeconds: 10 },
    });
  });

  test('a trace needs no other end', () => {
    const { load: traced, fixedSchedule } = load('--fixed-schedule --fixed-schedule-start-offset 100');
    expect(traced).toEqual(PLAIN);
    expect(fixedSchedule).toEqual({ autoOffset: false, startOffset_ms: 100, endOffset_ms: null });
  });

  test('the percentage of cancelled requests becomes a share', () => {
    const { cancellation } = load('--request-count 1 --request-cancellation-rate 12.5 --request-cancellation-delay 2');
    expect(cancellation).toEqual({ ratio: 0.125, delaySeconds: 2 });
  });
});

describe('the warm-up', () => {
  const warmup = (argv: string) => load(`--request-count 9 ${argv}`).warmup;
  const rate = (requestRate: number, pattern = 'poisson') => ({ requestRate, pattern, smoothness: 1, rampSeconds: 0 });

  test('none: no count or 0', () => {
    expect(warmup('--concurrency 4')).toBeNull();
    expect(warmup('--warmup-request-count 0')).toBeNull();
  });

  test('as measured, without the ramps', () => {
    expect(warmup('--concurrency 4 --concurrency-ramp-duration 9 --warmup-request-count 5')).toEqual({
      load: { ...PLAIN, concurrency: 4 },
      requestCount: 5,
      durationSeconds: null,
      gracePeriodSeconds: 30,
    });
    const measured = '--request-rate 7 --request-rate-ramp-duration 3 --concurrency 9';
    expect(warmup(`${measured} --warmup-duration 5`)).toMatchObject({
      load: { ...PLAIN, concurrency: 9, rate: rate(7) },
      durationSeconds: 5,
    });
  });

  test.each([
    ['a closed loop before a rate', '--request-rate 7', '--warmup-concurrency 2', { ...PLAIN, concurrency: 2 }],
    ['a rate before a closed loop', '--concurrency 4', '--warmup-request-rate 3', { ...PLAIN, rate: rate(3) }],
    [
      'another rate and pattern',
      '--request-rate 7 --concurrency 8',
      '--warmup-request-rate 3 --warmup-arrival-pattern constant',
      { ...PLAIN, rate: rate(3, 'constant') },
    ],
    [
      'a rate with a limit of its own',
      '--concurrency 4',
      '--warmup-request-rate 3 --warmup-concurrency 6',
      { ...PLAIN, concurrency: 6, rate: rate(3) },
    ],
  ])('%s', (_, measured, own, expected) => {
    expect(warmup(`${measured} ${own} --warmup-duration 1`)?.load).toEqual(expected);
  });
});

test('lists make steps, the concurrencies going round fastest', () => {
  expect(loadSteps(read('--concurrency 1,2 --request-rate 0.5,10'))).toEqual([
    { concurrency: 1, requestRate: 0.5 },
    { concurrency: 2, requestRate: 0.5 },
    { concurrency: 1, requestRate: 10 },
    { concurrency: 2, requestRate: 10 },
  ]);
  expect(loadSteps(read(''))).toEqual([{ concurrency: null, requestRate: null }]);
});

test.each([
  ['', 'give --request-count or --benchmark-duration: when does the benchmark end?'],
  ['--request-count 1 --request-rate 1 --fixed-schedule', '--request-rate and --fixed-schedule exclude each other'],
  ['--request-count 1 --request-rate-ramp-duration 3', '--request-rate-ramp-duration needs --request-rate'],
  ['--request-count 1 --request-rate 3 --arrival-smoothness 2', '--arrival-smoothness needs --arrival-pattern gamma'],
  [
    '--request-count 1 --request-rate 3 --concurrency-ramp-duration 2',
    '--concurrency-ramp-duration needs --concurrency',
  ],
  ['--request-count 1 --fixed-schedule-auto-offset', '--fixed-schedule-auto-offset needs --fixed-schedule'],
  [
    '--request-count 1 --warmup-concurrency 2',
    '--warmup-concurrency needs --warmup-request-count or --warmup-duration',
  ],
  [
    '--request-count 1 --request-cancellation-delay 2',
    '--request-cancellation-delay needs --request-cancellation-rate',
  ],
  ['--request-count 1 --concurrency 1,0', "--concurrency is '1,0' and must be a whole number from 1 to 100000"],
  ['--request-count 1 --concurrency 1,,2', "--concurrency is '1,,2' and must be a whole number from 1 to 100000"],
  ['--request-count 1 --request-rate 0', "--request-rate is '0' and must be a number from 0.000001 to 1000000"],
  [
    '--request-count 1 --arrival-pattern burst',
    "--arrival-pattern is 'burst' and must be one of poisson, constant, gamma",
  ],
])('%s is refused', (argv, message) => {
  expect(() => load(argv)).toThrow(message);
});
