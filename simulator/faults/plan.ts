import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { windowEnd, type EngineParameters, type Window } from '../engine/parameters.ts';

/** Refuses requests with this status, in this time. */
export interface Refusal extends Window {
  readonly status: 429 | 503;
  /** Share of the requests that are refused. */
  readonly rate: number;
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds: number;
}

/** Does something to a share of the streams, at one of their tokens. */
export interface StreamFault {
  readonly rate: number;
  /** Tokens that are sent as they should be before it. */
  readonly afterTokens: number;
}

/** What goes wrong in a simulated system. Times count from the start of each server. */
export interface FaultPlan {
  /** Every response is 503 until this many seconds have passed. */
  readonly slowStart: { readonly seconds: number } | null;
  /** The engine stands still. */
  readonly stall: Window | null;
  /** The connection of a stream is reset in the middle. */
  readonly reset: StreamFault | null;
  /** One event of a stream is cut short, so that its JSON cannot be read. */
  readonly malformed: StreamFault | null;
  readonly refusals: readonly Refusal[];
  /** The server ends for the time of the window, and begins anew with all its counters at 0. */
  readonly restart: (Window & { readonly worker: number }) | null;
  /** Every step of the engine takes this many times as long. */
  readonly slowdown: { readonly factor: number } | null;
  /** The KV cache has this share of its blocks, so that requests are preempted. */
  readonly kvPressure: { readonly ratio: number } | null;
  /** Loading from the tiers below the device takes this many times as long. */
  readonly slowKvTier: { readonly factor: number } | null;
  /** The router sends this share of the requests to one worker. */
  readonly hotWorker: { readonly worker: number; readonly share: number } | null;
}

export const NO_FAULTS: FaultPlan = {
  slowStart: null,
  stall: null,
  reset: null,
  malformed: null,
  refusals: [],
  restart: null,
  slowdown: null,
  kvPressure: null,
  slowKvTier: null,
  hotWorker: null,
};

/**
 * Checks that the workers that a plan names are there.
 *
 * @param workers how many the system has; 1: there is no router before them
 * @throws RangeError saying which fault is wrong
 */
export function checkWorkers({ restart, hotWorker }: FaultPlan, workers: number): void {
  if (hotWorker !== null && workers === 1) throw new RangeError('hot-worker: there is only one worker');
  for (const [name, fault] of [
    ['restart', restart],
    ['hot-worker', hotWorker],
  ] as const) {
    if (fault !== null && fault.worker >= workers) {
      throw new RangeError(`${name}: there is no worker ${fault.worker}, the last one is ${workers - 1}`);
    }
  }
}

/**
 * The engine's parameters with the faults that lie in the engine: stalls, slow steps, a small KV cache, slow offload tiers.
 *
 * @throws RangeError when the tiers are to be slow and there are none
 */
export function withEngineFaults(parameters: EngineParameters, faults: FaultPlan): EngineParameters {
  const { stall, slowdown, kvPressure, slowKvTier } = faults;
  const factor = slowdown?.factor ?? 1;
  const { offloadTiers, numKvBlocks, maxModelLen, blockSize } = parameters;
  if (slowKvTier !== null && offloadTiers.length === 0) {
    throw new RangeError('slow-kv-tier: this system has no KV tier below the device');
  }
  const fewest = Math.ceil(maxModelLen / blockSize);
  return {
    ...parameters,
    stall: stall ?? parameters.stall,
    prefillMillisecondsPerToken: parameters.prefillMillisecondsPerToken * factor,
    stepBaseMilliseconds: parameters.stepBaseMilliseconds * factor,
    decodeMillisecondsPerSequence: parameters.decodeMillisecondsPerSequence * factor,
    numKvBlocks: kvPressure === null ? numKvBlocks : Math.max(fewest, Math.floor(numKvBlocks * kvPressure.ratio)),
    offloadTiers: offloadTiers.map((tier) => ({
      ...tier,
      loadMillisecondsPerBlock: tier.loadMillisecondsPerBlock * (slowKvTier?.factor ?? 1),
    })),
  };
}

/** What is to happen to one stream; counts of tokens that are sent before it. */
export interface StreamFate {
  readonly resetAfterTokens: number | null;
  readonly malformedAfterTokens: number | null;
}

/** The fate of a stream that nothing happens to. */
export const UNTROUBLED: StreamFate = { resetAfterTokens: null, malformedAfterTokens: null };

/** The faults of one server, drawn from its seed: the same requests in the same order meet the same. */
export class ServerFaults {
  readonly #plan: FaultPlan;
  readonly #random: Random;

  constructor(plan: FaultPlan, seed: number) {
    this.#plan = plan;
    // Not the engine's own sequence: a fault that is drawn must not change the times of its steps.
    this.#random = seededRandom(seed ^ 0x5f3759df);
  }

  /** Whether the server still starts. @param time_s since its start */
  isStarting(time_s: number): boolean {
    return time_s < (this.#plan.slowStart?.seconds ?? 0);
  }

  /** The refusal that a request meets which comes now. */
  refusal(time_s: number): Refusal | null {
    const due = this.#plan.refusals.find((refusal) => windowEnd(refusal, time_s) !== null);
    return due !== undefined && this.#random() < due.rate ? due : null;
  }

  streamFate(): StreamFate {
    const { reset, malformed } = this.#plan;
    return {
      resetAfterTokens: reset !== null && this.#random() < reset.rate ? reset.afterTokens : null,
      malformedAfterTokens: malformed !== null && this.#random() < malformed.rate ? malformed.afterTokens : null,
    };
  }
}

/** One key of a fault: a number within a range. */
interface FaultKey {
  /** What a plan calls it. */
  readonly as: string;
  readonly min: number;
  readonly max: number;
  readonly integer?: true;
  /** Value when it is not given; null: none. */
  readonly fallback: number | null;
}

interface Fault {
  /** Where a plan has it. */
  readonly field: keyof FaultPlan;
  readonly keys: Readonly<Record<string, FaultKey>>;
  /** Of a refusal. */
  readonly status?: Refusal['status'];
}

const DAY = 86_400;
const after = (fallback: number): FaultKey => ({ as: 'afterSeconds', min: 0, max: DAY, fallback });
const seconds = (fallback: number): FaultKey => ({ as: 'seconds', min: 0.001, max: DAY, fallback });
const EVERY: FaultKey = { as: 'everySeconds', min: 0.001, max: DAY, fallback: null };
const share = (as: string, fallback: number): FaultKey => ({ as, min: 0, max: 1, fallback });
const count = (as: string, fallback: number): FaultKey => ({ as, min: 0, max: 1_000_000, integer: true, fallback });
const factor = (fallback: number, max: number): FaultKey => ({ as: 'factor', min: 1, max, fallback });

const IN_STREAM = { rate: share('rate', 0.1), 'after-tokens': count('afterTokens', 5) };
const REFUSING = {
  ...{ after: after(5), seconds: seconds(5), every: EVERY, rate: share('rate', 1) },
  'retry-after': { ...after(1), as: 'retryAfterSeconds' },
};

/** The faults that can be requested, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'slow-start': { field: 'slowStart', keys: { seconds: seconds(10) } },
  stall: { field: 'stall', keys: { after: after(5), seconds: seconds(2), every: EVERY } },
  reset: { field: 'reset', keys: IN_STREAM },
  malformed: { field: 'malformed', keys: IN_STREAM },
  'http-429': { field: 'refusals', keys: REFUSING, status: 429 },
  'http-503': { field: 'refusals', keys: REFUSING, status: 503 },
  restart: {
    field: 'restart',
    keys: { after: after(10), seconds: seconds(2), every: EVERY, worker: count('worker', 0) },
  },
  slowdown: { field: 'slowdown', keys: { factor: factor(1.5, 1000) } },
  'kv-pressure': { field: 'kvPressure', keys: { ratio: { as: 'ratio', min: 0.001, max: 1, fallback: 0.05 } } },
  'slow-kv-tier': { field: 'slowKvTier', keys: { factor: factor(20, 100_000) } },
  'hot-worker': { field: 'hotWorker', keys: { worker: count('worker', 0), share: share('share', 0.8) } },
};

/**
 * Reads faults as they stand on the command line, `name[:key=value,…]` each: `stall:after=5,seconds=2`.
 *
 * @throws Error that says in one line what was expected, beginning so that "must be" fits before it
 */
export function parseFaults(texts: readonly string[]): FaultPlan {
  return texts.reduce((plan, text) => {
    const { name, fault, pairs } = split(text);
    if (pairs.some(({ key }) => !Object.hasOwn(fault.keys, key))) {
      throw new Error(`${name} with no keys but ${Object.keys(fault.keys).join(', ')}`);
    }
    const entries = Object.entries(fault.keys).map(([key, rule]) => {
      const given = pairs.findLast((pair) => pair.key === key);
      return [rule.as, given === undefined ? rule.fallback : readNumber(given.value, rule, `${name} with ${key}`)];
    });
    const values = Object.fromEntries(entries) as Omit<Refusal, 'status'>;
    const { field, status } = fault;
    // Refusals are combined; of any other fault the last one applies.
    const added = status === undefined ? values : [...plan.refusals, { ...values, status }];
    return checked({ ...plan, [field]: added }, name);
  }, NO_FAULTS);
}

function split(text: string): { name: string; fault: Fault; pairs: { key: string; value: string }[] } {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const fault = Object.hasOwn(FAULTS, name) ? FAULTS[name] : undefined;
  if (fault === undefined) throw new Error(`one of ${Object.keys(FAULTS).join(', ')}`);
  const rest = colon < 0 ? [] : text.slice(colon + 1).split(',');
  const pairs = rest.map((pair) => {
    const [key = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0)
      throw new Error(`${name} with key=value after the colon, not '${pair}'`);
    return { key, value };
  });
  return { name, fault, pairs };
}

function readNumber(text: string, { min, max, integer }: FaultKey, what: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= min && value <= max) || (integer && !Number.isInteger(value))) {
    throw new Error(`${what} a ${integer ? 'whole ' : ''}number from ${min} to ${max}`);
  }
  return value;
}

/** What comes again must have ended before. */
function checked(plan: FaultPlan, name: string): FaultPlan {
  for (const window of [plan.stall, plan.restart, ...plan.refusals]) {
    if (window !== null && window.everySeconds !== null && window.everySeconds <= window.seconds) {
      throw new Error(`${name} with every longer than seconds`);
    }
  }
  return plan;
}
