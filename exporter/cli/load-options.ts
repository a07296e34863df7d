import { DEFAULT_GRACE_PERIOD_SECONDS } from '../bench/benchmark-plan.ts';
import { ARRIVAL_PATTERNS, type ArrivalPattern } from '../bench/load-plan.ts';
import type { LoadRequest, RateRequest, RunRequest, WarmupRequest } from '../run/run-request.ts';
import { CliError } from './failure.ts';
import { choice, flag, integer, numbers, seconds, type Option, type Values } from './options.ts';

const MOST_REQUESTS = 1e9;
const MOST_CONCURRENCY = 100_000;
const MOST_REQUESTS_PER_SECOND = 1e6;
const ONE_WEEK_SECONDS = 604_800;
const UP_TO_A_WEEK = { min: 0, max: ONE_WEEK_SECONDS };
const SLOTS = { min: 1, max: MOST_CONCURRENCY };
const RATE = { min: 1e-6, max: MOST_REQUESTS_PER_SECOND };

const amount = <T extends number | null>(value: string, given: Option<number | T>): Option<number | T> => ({
  ...given,
  value,
});

/** How requests come: the names of `aiperf profile`. */
export const ARRIVAL_OPTIONS = {
  concurrency: {
    ...numbers(
      'N',
      'requests in flight at any time (default 1); with --request-rate or --fixed-schedule: at most in flight (default no limit)',
      { ...SLOTS, whole: true },
    ),
    elsewhere: ['max-concurrency'],
  },
  'concurrency-ramp-duration': seconds('open the slots one after the other over this time', UP_TO_A_WEEK, 0),
  'prefill-concurrency': integer('requests at most that wait for their first token', SLOTS, null),
  'prefill-concurrency-ramp-duration': seconds('let this limit grow from 1 over this time', UP_TO_A_WEEK, 0),
  'request-rate': {
    ...numbers('RATE', 'requests per second, sent whatever the server does', { ...RATE, whole: false }),
    elsewhere: ['rate', 'qps', 'rps'],
  },
  'arrival-pattern': choice(
    ARRIVAL_PATTERNS,
    'how the gaps between requests of a rate are spread: exponential, equal or gamma',
    'poisson',
  ),
  'arrival-smoothness': amount(
    'SHAPE',
    seconds(
      'shape of the gamma distribution of the gaps: 1 is poisson, more is smoother',
      { min: 0.01, max: 1e4 },
      null,
    ),
  ),
  'request-rate-ramp-duration': seconds('let the rate grow from 0 over this time', UP_TO_A_WEEK, 0),
  'fixed-schedule': flag(
    'send the requests of the input at its timestamps (the default of mooncake_trace where it has them)',
  ),
  'no-fixed-schedule': flag('ignore the timestamps of a trace, which are followed otherwise'),
  'fixed-schedule-auto-offset': flag('the first request of the schedule is due at once, whatever its timestamp'),
  'fixed-schedule-start-offset': amount(
    'MS',
    seconds('begin the schedule at this timestamp', { min: 0, max: Number.MAX_SAFE_INTEGER }, null),
  ),
  'fixed-schedule-end-offset': amount(
    'MS',
    seconds('end the schedule after this timestamp', { min: 0, max: Number.MAX_SAFE_INTEGER }, null),
  ),
  'request-cancellation-rate': amount(
    'PERCENT',
    seconds('percentage of the requests that are given up on purpose', { min: 0, max: 100 }, 0),
  ),
  'request-cancellation-delay': seconds('how long after the sending they are given up', UP_TO_A_WEEK, 0),
};

/** When it ends. */
export const END_OPTIONS = {
  'request-count': {
    ...integer('how many requests to measure', { min: 1, max: MOST_REQUESTS }, null),
    elsewhere: ['num-prompts', 'num-requests', 'max-requests', 'requests'],
  },
  'benchmark-duration': {
    ...seconds('how long to measure; requests under way then are finished', { min: 0.1, max: ONE_WEEK_SECONDS }, null),
    elsewhere: ['duration', 'max-seconds'],
  },
  'benchmark-grace-period': seconds(
    'how long requests under way may take after the duration',
    UP_TO_A_WEEK,
    DEFAULT_GRACE_PERIOD_SECONDS,
  ),
  'max-output-tokens-total': integer(
    'end the run before it could generate more output tokens than this',
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    null,
  ),
};

/** What comes before the measuring. */
export const WARMUP_OPTIONS = {
  'warmup-request-count': integer('requests before the measuring, in no result', { min: 0, max: MOST_REQUESTS }, null),
  'warmup-duration': seconds('how long to warm up', { min: 0, max: ONE_WEEK_SECONDS }, null),
  'warmup-grace-period': seconds(
    'how long requests of the warm-up may take after its duration',
    UP_TO_A_WEEK,
    DEFAULT_GRACE_PERIOD_SECONDS,
  ),
  'warmup-concurrency': integer('--concurrency of the warm-up (default: as measured)', SLOTS, null),
  'warmup-prefill-concurrency': integer('--prefill-concurrency of the warm-up (default: as measured)', SLOTS, null),
  'warmup-request-rate': amount('RATE', seconds('--request-rate of the warm-up (default: as measured)', RATE, null)),
  'warmup-arrival-pattern': choice(ARRIVAL_PATTERNS, '--arrival-pattern of the warm-up (default: as measured)', null),
};

export const LOAD_OPTIONS = { ...ARRIVAL_OPTIONS, ...END_OPTIONS, ...WARMUP_OPTIONS };

type LoadOptions = Values<typeof LOAD_OPTIONS>;

/** One load of a sweep. */
export interface LoadStep {
  readonly concurrency: number | null;
  readonly requestRate: number | null;
}

/** Every combination of the concurrencies and rates given, the concurrencies going round fastest. */
export function loadSteps(options: LoadOptions): readonly LoadStep[] {
  return (options['request-rate'] ?? [null]).flatMap((requestRate) =>
    (options.concurrency ?? [null]).map((concurrency) => ({ concurrency, requestRate })),
  );
}

type RequestedLoad = Pick<
  RunRequest,
  | 'load'
  | 'fixedSchedule'
  | 'requestCount'
  | 'durationSeconds'
  | 'gracePeriodSeconds'
  | 'warmup'
  | 'cancellation'
  | 'maxOutputTokensTotal'
>;

/** The load of one step, with the checks that concern several options. Throws a `CliError`. */
export function requestedLoad(options: LoadOptions, step: LoadStep): RequestedLoad {
  checkCombinations(options);
  const prefillRamp = options['prefill-concurrency-ramp-duration'];
  const load: LoadRequest = {
    concurrency: step.concurrency,
    concurrencyRampSeconds: options['concurrency-ramp-duration'],
    prefillConcurrency: options['prefill-concurrency'],
    ...(prefillRamp === 0 ? {} : { prefillConcurrencyRampSeconds: prefillRamp }),
    rate: step.requestRate === null ? null : rate(options, step.requestRate, options['arrival-pattern']),
  };
  const ratio = options['request-cancellation-rate'] / 100;
  return {
    load,
    fixedSchedule: options['fixed-schedule']
      ? {
          autoOffset: options['fixed-schedule-auto-offset'],
          startOffset_ms: options['fixed-schedule-start-offset'],
          endOffset_ms: options['fixed-schedule-end-offset'],
        }
      : null,
    requestCount: options['request-count'],
    durationSeconds: options['benchmark-duration'],
    gracePeriodSeconds: options['benchmark-grace-period'],
    warmup: warmup(options, load),
    cancellation: ratio === 0 ? null : { ratio, delaySeconds: options['request-cancellation-delay'] },
    maxOutputTokensTotal: options['max-output-tokens-total'],
  };
}

function rate(options: LoadOptions, requestRate: number, pattern: ArrivalPattern): RateRequest {
  const rampSeconds = options['request-rate-ramp-duration'];
  return { requestRate, pattern, smoothness: options['arrival-smoothness'] ?? 1, rampSeconds };
}

/** The measured load with what the warm-up has of its own, and without the ramps: nobody looks at how it begins. */
function warmup(options: LoadOptions, measured: LoadRequest): WarmupRequest | null {
  const requestCount = options['warmup-request-count'] || null;
  const durationSeconds = options['warmup-duration'] || null;
  if (requestCount === null && durationSeconds === null) return null;
  const ownRate = options['warmup-request-rate'];
  const ownConcurrency = options['warmup-concurrency'];
  const requestRate = ownRate ?? (ownConcurrency === null ? (measured.rate?.requestRate ?? null) : null);
  const pattern = options['warmup-arrival-pattern'] ?? options['arrival-pattern'];
  const load: LoadRequest = {
    concurrency: ownConcurrency ?? (ownRate === null ? measured.concurrency : null),
    concurrencyRampSeconds: 0,
    prefillConcurrency: options['warmup-prefill-concurrency'] ?? measured.prefillConcurrency,
    rate: requestRate === null ? null : { ...rate(options, requestRate, pattern), rampSeconds: 0 },
  };
  return { load, requestCount, durationSeconds, gracePeriodSeconds: options['warmup-grace-period'] };
}

function checkCombinations(options: LoadOptions): void {
  const rated = options['request-rate'] !== null;
  const fixed = options['fixed-schedule'];
  if (!fixed && options['request-count'] === null && options['benchmark-duration'] === null) {
    throw new CliError('give --request-count or --benchmark-duration: when does the benchmark end?');
  }
  if (rated && fixed) throw new CliError('--request-rate and --fixed-schedule exclude each other');
  const warmupRated = options['warmup-request-rate'] !== null;
  const warmed = (options['warmup-request-count'] ?? 0) > 0 || (options['warmup-duration'] ?? 0) > 0;
  const limits = options.concurrency !== null || (!rated && !fixed);
  const gamma = [options['arrival-pattern'], options['warmup-arrival-pattern']].includes('gamma');
  needs(options, 'request-rate-ramp-duration', rated, '--request-rate');
  needs(options, 'arrival-smoothness', gamma, '--arrival-pattern gamma');
  needs(options, 'concurrency-ramp-duration', limits, '--concurrency');
  const prefill = options['prefill-concurrency'] !== null;
  needs(options, 'prefill-concurrency-ramp-duration', prefill, '--prefill-concurrency');
  for (const name of ['auto-offset', 'start-offset', 'end-offset'] as const) {
    needs(options, `fixed-schedule-${name}`, fixed, '--fixed-schedule');
  }
  if (options['fixed-schedule-auto-offset'] && options['fixed-schedule-start-offset'] !== null) {
    throw new CliError('--fixed-schedule-auto-offset and --fixed-schedule-start-offset exclude each other');
  }
  for (const name of ['concurrency', 'prefill-concurrency', 'request-rate', 'arrival-pattern'] as const) {
    needs(options, `warmup-${name}`, warmed, '--warmup-request-count or --warmup-duration');
  }
  needs(options, 'warmup-arrival-pattern', rated || warmupRated, '--request-rate or --warmup-request-rate');
  needs(options, 'request-cancellation-delay', options['request-cancellation-rate'] > 0, '--request-cancellation-rate');
}

/** An option that would have no effect is a mistake. */
function needs(options: LoadOptions, name: keyof LoadOptions, met: boolean, needed: string): void {
  const value = options[name];
  if (value !== null && value !== 0 && value !== false && !met) throw new CliError(`--${name} needs ${needed}`);
}
