import type { Random } from '../../core/stats/seeded-random.ts';
import type { DynamoInstance } from './instance.ts';

/** What the frontend does with a request before a worker has it, in seconds. */
export interface DispatchTimes {
  readonly template: number;
  readonly tokenize: number;
  readonly blockHashing: number;
  readonly sequenceHashing: number;
  readonly findMatches: number;
  readonly schedule: number;
  readonly queue: number;
  readonly send: number;
}

/** A request that the frontend has given to a worker. */
export interface RoutedRequest {
  readonly id: string;
  readonly streaming: boolean;
  /** Path of the API that it came by. */
  readonly route: string;
  readonly promptTokens: number;
  /** When the frontend had it. */
  readonly arrival_ns: number;
  /** When the worker had it. */
  readonly dispatched_ns: number;
  readonly times: DispatchTimes;
  readonly worker: DynamoInstance;
  /** Share of its blocks that the router expects in the worker's cache. */
  readonly predictedHitRatio: number;
  /** Tokens that the router expects the worker to compute. */
  readonly prefillTokens: number;
}

/** Draws the times of one request: they grow with the prompt, and vary by half. */
export function drawDispatchTimes(promptTokens: number, random: Random): DispatchTimes {
  const about = (seconds: number): number => seconds * (0.75 + random() / 2);
  return {
    template: about(40e-6 + promptTokens * 20e-9),
    tokenize: about(150e-6 + promptTokens * 1.2e-6),
    blockHashing: about(2e-6 + promptTokens * 20e-9),
    sequenceHashing: about(2e-6 + promptTokens * 20e-9),
    findMatches: about(15e-6),
    schedule: about(150e-6),
    queue: about(60e-6),
    send: about(250e-6),
  };
}

/** From the arrival at the frontend to that at the worker. */
export function dispatchSeconds(times: DispatchTimes): number {
  const { template, tokenize, blockHashing, sequenceHashing, findMatches, schedule, queue, send } = times;
  return template + tokenize + blockHashing + sequenceHashing + findMatches + schedule + queue + send;
}
