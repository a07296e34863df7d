import { createHash } from 'node:crypto';
import type { LoadPhase } from '../../../core/run/record.ts';
import type { GenerationRequest } from '../endpoints/endpoint.ts';

/** Source of a run's requests: any of them can be made at any time, and is always the same. */
export interface Dataset {
  /** The request at a position of a phase, from 0; `probe` is the one before the run. */
  request(phase: LoadPhase | 'probe', position: number): GenerationRequest;
  /** SHA-256 (hex) of everything that determines the requests. */
  readonly planSha256: string;
  /** Hex SHA-256 of the file that it was read from, of a folder of its files' hashes; absent: no file. */
  readonly fileSha256?: string;
  /** Largest `max_tokens` of its requests; null or absent when there is no upper bound. */
  readonly longestOutputTokens?: number | null;
  /** Number of different requests, or conversations, after which they recur; null: no limit. */
  readonly size: number | null;
  /**
   * In datasets of conversations, instead of `request`: the conversation at a position of a phase, from 0. Its turns
   * are sent one after the other, each with the server's responses to the earlier ones.
   */
  readonly conversation?: (phase: LoadPhase, position: number) => Conversation;
  /**
   * When each request is due, in whole nanoseconds since the start of the trace, by position; absent: the dataset has
   * no times.
   */
  readonly due_ns?: Float64Array;
  /** What a user should know of how the file was read, a line each; absent: nothing. */
  readonly notes?: readonly string[];
}

/** One user's exchange with the model. */
export interface Conversation {
  readonly turns: number;
  /** The request of a turn, from 0; `answers` are the responses to the earlier turns, which have no message when empty. */
  request(turn: number, responses: readonly string[]): GenerationRequest;
  /** The user's delay before a turn, after the previous response. */
  delaySeconds(turn: number): number;
}

/** The hash of a plan: of its JSON with sorted keys, so that it does not depend on how the plan was written. */
export function planSha256(plan: Readonly<Record<string, string | number | null>>): string {
  const sorted = Object.fromEntries(Object.entries(plan).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
