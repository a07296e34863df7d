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
