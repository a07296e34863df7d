import { DEFAULT_GRACE_PERIOD_SECONDS } from '../../load/load-generator.ts';
import {
  ARRIVAL_PATTERNS,
  highestRate,
  type ArrivalPattern,
  type ClosedLoad,
  type LoadPlan,
  type PhaseLoad,
  type RatePlan,
  type StagedLoad,
  type StagePlan,
  type TracePlan,
} from '../../load/schedule/load-plan.ts';
import { DEFAULT_ERROR_LIMIT, type ErrorLimit } from '../../load/phases/early-end.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { CliError } from '../failure.ts';
import {
  choice,
  flag,
  integer,
  milliseconds,
  number,
  numbers,
  percent,
  seconds,
  type Option,
  type OptionValues,
} from './options.ts';
import { stagesOption } from './stage-grammar.ts';

const MAX_REQUESTS = 1e9;
const MAX_CONCURRENCY = 100_000;
const MAX_REQUESTS_PER_SECOND = 1e6;
const ONE_WEEK_SECONDS = 604_800;
const UP_TO_A_WEEK = { min: 0, max: ONE_WEEK_SECONDS };
const SLOTS = { min: 1, max: MAX_CONCURRENCY };
const TIMESTAMP = { min: 0, max: Number.MAX_SAFE_INTEGER };
const RATE = { min: 1e-6, max: MAX_REQUESTS_PER_SECOND };

/** How requests arrive: the names of `aiperf profile`. */
export const ARRIVAL_OPTIONS = {
  concurrency: numbers(
    'N',
    'requests in flight (default 1); with --request-rate or --fixed-schedule: maximum in flight (default: no limit)',
    { ...SLOTS, whole: true },
  ),
  'concurrency-ramp-duration': seconds('ramp the concurrency up over this time', UP_TO_A_WEEK, 0),
  'prefill-concurrency': integer('maximum number of requests that wait for their first token', SLOTS, null),
  'prefill-concurrency-ramp-duration': seconds('ramp this limit up from 1 over this time', UP_TO_A_WEEK, 0, {
    requires: ['--prefill-concurrency'],
  }),
  'request-rate': numbers(
    'RATE',
    'requests per second, sent independently of the responses; inf: all at once, or as many as --concurrency allows',
    { ...RATE, whole: false, infinite: true },
    { conflicts: { 'fixed-schedule': null } },
  ),
  stages: {
    ...stagesOption({ mostConcurrency: MAX_CONCURRENCY, rate: RATE, mostSeconds: ONE_WEEK_SECONDS }),
    conflicts: {
      concurrency: 'a stage has its own, concurrency=N',
      'request-rate': 'a stage has its own, rate=N',
      'fixed-schedule': 'a trace has its own times',
      'request-count': 'the stages end the run',
      'conversation-num': 'the stages end the run',
      'benchmark-duration': 'the stages end the run',
      'concurrency-ramp-duration': 'add a stage for each step',
      'request-rate-ramp-duration': 'use a stage such as rate=0..20:30s',
      check: 'compare stages with `llmbench compare --stage N`',
    },
  },
  'arrival-pattern': choice(
    ARRIVAL_PATTERNS,
    'distribution of the gaps between requests at a rate: exponential, constant or gamma',
    'poisson',
  ),
  'arrival-smoothness': number(
    'SHAPE',
    'shape of the gamma distribution of the gaps: 1 is poisson, higher is smoother',
    { min: 0.01, max: 1e4 },
    null,
    { requires: ['--arrival-pattern gamma or --warmup-arrival-pattern gamma'] },
  ),
  'request-rate-ramp-duration': seconds('ramp the rate up from 0 over this time', UP_TO_A_WEEK, 0, {
    requires: ['--request-rate'],
  }),
  'fixed-schedule': flag('send the requests of the input at its timestamps (default for a trace with timestamps)', {
    conflicts: { 'no-fixed-schedule': null },
  }),
  'no-fixed-schedule': flag('ignore the timestamps of a trace'),
  'fixed-schedule-auto-offset': flag('shift the schedule so that its first request is due at once', {
    conflicts: { 'fixed-schedule-start-offset': null },
  }),
  'fixed-schedule-start-offset': milliseconds('begin the schedule at this timestamp', TIMESTAMP, null),
  'fixed-schedule-end-offset': milliseconds('end the schedule after this timestamp', TIMESTAMP, null),
  'synthesis-speedup-ratio': number(
    'FACTOR',
    'replay a schedule this many times as fast: 2 halves the time between requests (default 1)',
    { min: 1e-6, max: 1e6 },
    null,
  ),
  'request-cancellation-rate': percent('percentage of requests that the client cancels on purpose', 0),
  'request-cancellation-delay': seconds('time from sending a request to its cancellation', UP_TO_A_WEEK, 0, {
    requires: ['--request-cancellation-rate'],
  }),
};

/** When it ends. */
export const END_OPTIONS = {
  'request-count': integer('number of requests to measure', { min: 1, max: MAX_REQUESTS }, null),
  'conversation-num': integer(
    'number of conversations, or sessions of a file, to measure to their ends',
    { min: 1, max: MAX_REQUESTS },
    null,
    { conflicts: { 'request-count': 'it ends within a conversation' } },
  ),
  'benchmark-duration': seconds(
    'duration of the measurement; requests in flight at its end are finished',
    { min: 0.1, max: ONE_WEEK_SECONDS },
    null,
  ),
  'benchmark-grace-period': seconds(
    'time that requests in flight may take after the duration',
    UP_TO_A_WEEK,
    DEFAULT_GRACE_PERIOD_SECONDS,
  ),
  'cool-down': flag(
    'keep the load constant until the last measured request has ended, with requests that are not in the results',
  ),
  'stop-after-errors': errorLimit(
    'end the run after this many errors, or when this share of the requests sent lately failed: 0.5 or 50%; 0: never (default: 95% of at least 50)',
  ),
  'max-output-tokens-total': integer(
    'end the run, or the search, before it can generate more output tokens than this',
    { min: 1, max: Number.MAX_SAFE_INTEGER },
    null,
  ),
};

/** A whole number counts errors; a share has a decimal point or a percent sign. */
function errorLimit(help: string): Option<ErrorLimit> {
  return {
    help,
    value: 'N|SHARE',
    parse: (given) => {
      const text = given.at(-1) ?? '';
      const [, digits = '', percent = ''] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
      const isShare = percent === '%' || digits.includes('.');
      const value = Number(digits) / (percent === '%' ? 100 : 1);
      if (digits === '' || (isShare && (value <= 0 || value > 1)) || value > MAX_REQUESTS)
        throw new Error('a number of errors, or a share such as 0.5 or 50%');
      if (isShare) return { share: value };
      return value === 0 ? null : { errors: value };
    },
    fallback: DEFAULT_ERROR_LIMIT,
  };
}

const WARMED = { requires: ['--warmup-request-count, --warmup-duration or --prime-prefixes'] };

/** What comes before the measurement. */
export const WARMUP_OPTIONS = {
  'warmup-request-count': integer(
    'requests sent before the measurement; not in the results',
    { min: 0, max: MAX_REQUESTS },
    null,
  ),
  'warmup-duration': seconds('warm-up duration', { min: 0, max: ONE_WEEK_SECONDS }, null),
  'warmup-grace-period': seconds(
    'time that requests of the warm-up may take after its duration',
    UP_TO_A_WEEK,
    DEFAULT_GRACE_PERIOD_SECONDS,
  ),
  'warmup-concurrency': integer('--concurrency of the warm-up (default: as measured)', SLOTS, null, WARMED),
  'warmup-prefill-concurrency': integer(
    '--prefill-concurrency of the warm-up (default: as measured)',
    SLOTS,
    null,
    WARMED,
  ),
  'warmup-request-rate': number('RATE', '--request-rate of the warm-up (default: as measured)', RATE, null, WARMED),
  'warmup-arrival-pattern': choice(
    ARRIVAL_PATTERNS,
    '--arrival-pattern of the warm-up (default: as measured)',
    null,
    WARMED,
  ),
};

export const LOAD_OPTIONS = { ...ARRIVAL_OPTIONS, ...END_OPTIONS, ...WARMUP_OPTIONS };

type LoadOptions = OptionValues<typeof LOAD_OPTIONS>;

/** One load of a sweep. */
export interface LoadStep {
  readonly concurrency: number | null;
  /** Infinite: all requests are due at once. */
  readonly requestRate: number | null;
}

/** Every combination of the given concurrencies and rates; the concurrency varies fastest. */
export function loadSteps(options: LoadOptions): readonly LoadStep[] {
  return (options['request-rate'] ?? [null]).flatMap((requestRate) =>
    (options.concurrency ?? [null]).map((concurrency) => ({ concurrency, requestRate })),
  );
}

/** How many these are. */
export function countLoadSteps(options: Pick<LoadOptions, 'concurrency' | 'request-rate'>): number {
  return (options['request-rate']?.length ?? 1) * (options.concurrency?.length ?? 1);
}

type RequestedLoad = Pick<RunRequest, 'measure' | 'warmup' | 'cancellation' | 'maxOutputTokensTotal'>;

/**
 * The load of one step, with the checks that concern several options. `seed`: of arrivals; `priming`: requests that the
 * warm-up begins with. Throws a `CliError`.
 */
export function requestedLoad(options: LoadOptions, step: LoadStep, seed: number, priming = 0): RequestedLoad {
  checkCombinations(options);
  const ratio = options['request-cancellation-rate'] / 100;
  const load = measuredLoad(options, step, seed);
  return {
    measure: {
      load,
      requestCount: options['request-count'],
      ...(options['conversation-num'] === null ? {} : { conversationCount: options['conversation-num'] }),
      // Stages have their own durations.
      durationSeconds: options['benchmark-duration'] ?? stagesSeconds(options.stages),
      gracePeriodSeconds: options['benchmark-grace-period'],
      ...(options['cool-down'] ? { coolDown: true } : {}),
    },
    warmup: warmup(options, load, seed, priming),
    cancellation: ratio === 0 ? null : { ratio, delaySeconds: options['request-cancellation-delay'] },
    maxOutputTokensTotal: options['max-output-tokens-total'],
  };
}

function measuredLoad(options: LoadOptions, { concurrency, requestRate }: LoadStep, seed: number): LoadPlan {
  const limits = {
    concurrencyRampSeconds: options['concurrency-ramp-duration'],
    prefillConcurrency: options['prefill-concurrency'],
    prefillConcurrencyRampSeconds: options['prefill-concurrency-ramp-duration'],
  };
  if (options['fixed-schedule']) return { ...limits, concurrency, arrivals: trace(options) };
  if (options.stages !== null) return stagedLoad(options, options.stages, limits, seed);
  if (requestRate === null) return closedLoad(limits, concurrency);
  if (requestRate === Infinity) return closedLoad(limits, concurrency ?? allAtOnce(options));
  const rampSeconds = options['request-rate-ramp-duration'];
  const arrivals = { ...rate(options, requestRate, options['arrival-pattern'], seed), rampSeconds };
  return { ...limits, concurrency, arrivals };
}

/** Requests that are all due at once are a closed load with a slot for each, or with as many slots as are allowed. */
function allAtOnce({ 'request-count': requestCount }: LoadOptions): number {
  if (requestCount === null) throw new CliError('--request-rate inf requires --request-count or --concurrency');
  if (requestCount > MAX_CONCURRENCY)
    throw new CliError(`--request-rate inf requires --concurrency with more than ${MAX_CONCURRENCY} requests`);
  return requestCount;
}

function stagedLoad(
  options: LoadOptions,
  stages: readonly StagePlan[],
  limits: Omit<StagedLoad, 'concurrency' | 'arrivals'>,
  seed: number,
): StagedLoad {
  const most = Math.max(...stages.map((stage) => (stage.kind === 'rate' ? Infinity : stage.concurrency)));
  return {
    ...limits,
    concurrency: most === Infinity ? null : most,
    arrivals: {
      kind: 'stages',
      stages,
      pattern: options['arrival-pattern'],
      smoothness: options['arrival-smoothness'] ?? 1,
      seed,
    },
  };
}

const stagesSeconds = (stages: readonly StagePlan[] | null): number | null =>
  stages && Number(stages.reduce((sum, { seconds }) => sum + seconds, 0).toPrecision(15));

/** Without `--concurrency` a closed load has one request in flight. */
function closedLoad(limits: Omit<ClosedLoad, 'concurrency' | 'arrivals'>, concurrency: number | null): ClosedLoad {
  return { ...limits, concurrency: concurrency ?? 1, arrivals: null };
}

function trace(options: LoadOptions): TracePlan {
  const speedup = options['synthesis-speedup-ratio'];
  return {
    kind: 'trace',
    autoOffset: options['fixed-schedule-auto-offset'],
    startOffset_ms: options['fixed-schedule-start-offset'],
    endOffset_ms: options['fixed-schedule-end-offset'],
    ...(speedup === null ? {} : { speedup }),
  };
}

function rate(options: LoadOptions, requestRate: number, pattern: ArrivalPattern, seed: number): RatePlan {
  return { kind: 'rate', requestRate, pattern, smoothness: options['arrival-smoothness'] ?? 1, rampSeconds: 0, seed };
}

/** The measured load with what the warm-up has of its own, and without its ramps, which are in no result. */
function warmup(options: LoadOptions, measured: LoadPlan, seed: number, priming: number): PhaseLoad | null {
  const requestCount = priming + (options['warmup-request-count'] ?? 0) || null;
  const durationSeconds = options['warmup-duration'] || null;
  if (requestCount === null && durationSeconds === null) return null;
  const gracePeriodSeconds = options['warmup-grace-period'];
  return { load: warmupLoad(options, measured, seed), requestCount, durationSeconds, gracePeriodSeconds };
}

function warmupLoad(options: LoadOptions, measured: LoadPlan, seed: number): LoadPlan {
  const ownRate = options['warmup-request-rate'];
  const ownConcurrency = options['warmup-concurrency'];
  const { rate: measuredRate, concurrency: measuredConcurrency } = firstLoad(measured);
  const requestRate = ownRate ?? (ownConcurrency === null ? measuredRate : null);
  const concurrency = ownConcurrency ?? (ownRate === null ? measuredConcurrency : null);
  const limits = {
    concurrencyRampSeconds: 0,
    prefillConcurrency: options['warmup-prefill-concurrency'] ?? measured.prefillConcurrency,
    prefillConcurrencyRampSeconds: 0,
  };
  if (requestRate === null) return closedLoad(limits, concurrency);
  const pattern = options['warmup-arrival-pattern'] ?? options['arrival-pattern'];
  return { ...limits, concurrency, arrivals: rate(options, requestRate, pattern, seed) };
}

/** With stages the first one, and of a rate that changes the higher end. */
function firstLoad({ concurrency, arrivals }: LoadPlan): { rate: number | null; concurrency: number | null } {
  if (arrivals?.kind !== 'stages')
    return { rate: arrivals?.kind === 'rate' ? arrivals.requestRate : null, concurrency };
  const [first] = arrivals.stages;
  if (first?.kind === 'rate') return { rate: highestRate(first), concurrency: null };
  return { rate: null, concurrency: first?.concurrency ?? null };
}

/** What depends on values, beyond the rules of the options. */
function checkCombinations(options: LoadOptions): void {
  const { stages, 'request-rate': rates, 'fixed-schedule': fixed } = options;
  const ends = [options['request-count'], options['conversation-num'], options['benchmark-duration'], stages];
  if (!fixed && ends.every((end) => end === null))
    throw new CliError('--request-count, --conversation-num, --benchmark-duration or --stages is required');
  if (options['arrival-pattern'] !== 'poisson' && stages?.every(({ kind }) => kind === 'concurrency') === true)
    throw new CliError('--arrival-pattern requires a stage with a rate');
  checkCoolDown(options);
  needs(options, 'request-rate-ramp-duration', rates?.includes(Infinity) !== true, 'a finite --request-rate');
  const isLimited = options.concurrency !== null || (rates === null && !fixed);
  needs(options, 'concurrency-ramp-duration', isLimited, '--concurrency');
  for (const name of TRACE_OPTIONS) needs(options, name, fixed, '--fixed-schedule');
  const isWarmupRated = rates !== null || options['warmup-request-rate'] !== null || stages?.[0]?.kind === 'rate';
  needs(options, 'warmup-arrival-pattern', isWarmupRated, '--request-rate or --warmup-request-rate');
}

/** Also of a trace that is recognized by its content. */
const TRACE_OPTIONS = [
  'fixed-schedule-auto-offset',
  'fixed-schedule-start-offset',
  'fixed-schedule-end-offset',
  'synthesis-speedup-ratio',
] as const;

function needs(options: LoadOptions, name: keyof LoadOptions, met: boolean, needed: string): void {
  const value = options[name];
  if (value !== null && value !== 0 && value !== false && !met) throw new CliError(`--${name} requires ${needed}`);
}

/** Only slots that become free can send further requests. */
function checkCoolDown(options: LoadOptions): void {
  if (!options['cool-down']) return;
  const wrong = options['fixed-schedule']
    ? 'a trace'
    : options['request-rate']?.some((requestRate) => requestRate !== Infinity) === true
      ? 'a request rate'
      : options.stages?.at(-1)?.kind === 'rate'
        ? 'a last stage with a rate'
        : null;
  if (wrong !== null)
    throw new CliError(
      `--cool-down cannot be used with ${wrong}: it refills the slots of a concurrency, which become free at the end`,
    );
}
