import { describe, expect, test } from '@jest/globals';
import { LOAD_OPTIONS, loadSteps, requestedLoad } from './load-options.ts';
import { readOptions } from './options.ts';

const read = (argv: string) => readOptions(LOAD_OPTIONS, argv === '' ? [] : argv.split(' '), {});

function load(argv: string) {
  const options = read(argv);
  const [step] = loadSteps(options);
  if (step === undefined) throw new Error('there is no step');
  return requestedLoad(options, step, 7);
}

const LIMITS = { concurrencyRampSeconds: 0, prefillConcurrency: null, prefillConcurrencyRampSeconds: 0 };
const closed = (concurrency: number) => ({ ...LIMITS, concurrency, arrivals: null });
const rate = (requestRate: number, pattern = 'poisson') =>
  ({ kind: 'rate', requestRate, pattern, smoothness: 1, rampSeconds: 0, seed: 7 }) as const;

describe('the load', () => {
  test('closed: one request in flight unless --concurrency sets more', () => {
    expect(load('--request-count 1').measure.load).toEqual(closed(1));
    expect(load('--concurrency 8 --concurrency-ramp-duration 3 --request-count 10')).toEqual({
      measure: {
        load: { ...closed(8), concurrencyRampSeconds: 3 },
        requestCount: 10,
        durationSeconds: null,
        gracePeriodSeconds: 30,
      },
      warmup: null,
      cancellation: null,
      maxOutputTokensTotal: null,
    });
  });

  test('at a rate: poisson by default, and no limit of requests in flight', () => {
    expect(load('--request-rate 2.5 --benchmark-duration 60').measure.load).toEqual({
      ...LIMITS,
      concurrency: null,
      arrivals: rate(2.5),
    });
    const gamma = '--arrival-pattern gamma --arrival-smoothness 0.5 --request-rate-ramp-duration 10';
    expect(load(`--request-rate 4 --concurrency 32 ${gamma} --request-count 5`).measure.load).toEqual({
      ...LIMITS,
      concurrency: 32,
      arrivals: { ...rate(4, 'gamma'), smoothness: 0.5, rampSeconds: 10 },
    });
  });

  test('at an infinite rate: a slot for each request, or as many as --concurrency allows', () => {
    expect(load('--request-rate inf --request-count 40').measure.load).toEqual(closed(40));
    expect(load('--request-rate inf --concurrency 8 --benchmark-duration 60').measure.load).toEqual(closed(8));
    expect(() => load('--request-rate inf --benchmark-duration 60')).toThrow(
      '--request-rate inf requires --request-count or --concurrency',
    );
    expect(() => load('--request-rate 1,inf --request-rate-ramp-duration 3 --request-count 9')).toThrow(
      '--request-rate-ramp-duration requires a finite --request-rate',
    );
  });

  test('of a trace: it ends with its input, and no limit of requests in flight', () => {
    const trace = { kind: 'trace', autoOffset: false, startOffset_ms: 100, endOffset_ms: null };
    const { measure, warmup } = load('--fixed-schedule --fixed-schedule-start-offset 100 --warmup-request-count 1');
    expect(measure.load).toEqual({ ...LIMITS, concurrency: null, arrivals: trace });
    expect(warmup?.load).toEqual(closed(1));
  });

  test('the percentage of cancelled requests becomes a ratio', () => {
    const { cancellation } = load('--request-count 1 --request-cancellation-rate 12.5 --request-cancellation-delay 2');
    expect(cancellation).toEqual({ ratio: 0.125, delaySeconds: 2 });
  });
});

describe('the warm-up', () => {
  const warmup = (argv: string) => load(`--request-count 9 ${argv}`).warmup;

  test('none: no count or 0', () => {
    expect(warmup('--concurrency 4')).toBeNull();
    expect(warmup('--warmup-request-count 0')).toBeNull();
  });

  test('as measured, without the ramps', () => {
    expect(warmup('--concurrency 4 --concurrency-ramp-duration 9 --warmup-request-count 5')).toEqual({
      load: closed(4),
      requestCount: 5,
      durationSeconds: null,
      gracePeriodSeconds: 30,
    });
    const measured = '--request-rate 7 --request-rate-ramp-duration 3 --concurrency 9';
    expect(warmup(`${measured} --warmup-duration 5`)).toMatchObject({
      load: { ...LIMITS, concurrency: 9, arrivals: rate(7) },
      durationSeconds: 5,
    });
  });

  test.each([
    ['a closed loop before a rate', '--request-rate 7', '--warmup-concurrency 2', closed(2)],
    [
      'a rate before a closed loop',
      '--concurrency 4',
      '--warmup-request-rate 3',
      { ...LIMITS, concurrency: null, arrivals: rate(3) },
    ],
    [
      'another rate and pattern',
      '--request-rate 7 --concurrency 8',
      '--warmup-request-rate 3 --warmup-arrival-pattern constant',
      { ...LIMITS, concurrency: null, arrivals: rate(3, 'constant') },
    ],
    [
      'a rate with a limit of its own',
      '--concurrency 4',
      '--warmup-request-rate 3 --warmup-concurrency 6',
      { ...LIMITS, concurrency: 6, arrivals: rate(3) },
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
  ['', '--request-count, --conversation-num, --benchmark-duration or --stages is required'],
  [
    '--request-count 1 --request-rate 1 --fixed-schedule',
    '--request-rate and --fixed-schedule cannot be used together',
  ],
  ['--fixed-schedule --no-fixed-schedule', '--fixed-schedule and --no-fixed-schedule cannot be used together'],
  ['--request-count 1 --stages rate=5:3s', '--request-count cannot be used with --stages: the stages end the run'],
  ['--request-count 1 --request-rate-ramp-duration 3', '--request-rate-ramp-duration requires --request-rate'],
  [
    '--request-count 1 --request-rate 3 --arrival-smoothness 2',
    '--arrival-smoothness requires --arrival-pattern gamma',
  ],
  [
    '--request-count 1 --request-rate 3 --concurrency-ramp-duration 2',
    '--concurrency-ramp-duration requires --concurrency',
  ],
  ['--request-count 1 --fixed-schedule-auto-offset', '--fixed-schedule-auto-offset requires --fixed-schedule'],
  [
    '--request-count 1 --warmup-concurrency 2',
    '--warmup-concurrency requires --warmup-request-count, --warmup-duration or --prime-prefixes',
  ],
  [
    '--request-count 1 --request-cancellation-delay 2',
    '--request-cancellation-delay requires --request-cancellation-rate',
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
