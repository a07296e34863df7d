import type { PhaseName } from '../../../core/run/record.ts';
import type { GenerationRequest } from '../endpoints/endpoint.ts';

/** Where the requests of a run come from: any of them can be made at any time, and is always the same. */
export interface Dataset {
  /** The request at a position of a phase, from 0; `probe` is the one before the run. */
  request(phase: PhaseName | 'probe', position: number): GenerationRequest;
  /** SHA-256 (hex) of everything that decides the requests. */
  readonly planSha256: string;
  /** Largest `max_tokens` of its requests; null or absent when nothing bounds them. */
  readonly longestOutputTokens?: number | null;
  /** How many different requests there are, or conversations; null: as many as are asked for. Beyond them they recur. */
  readonly size: number | null;
  /**
   * Of datasets of conversations, in place of `request`: the conversation at a position of a phase, from 0. Its turns are
   * sent one after the other, each with the answers that the server gave to the ones before.
   */
  readonly conversation?: (phase: PhaseName, position: number) => Conversation;
  /** When each request is due in a trace, in seconds since its start, in order of position; absent: the trace has no times. */
  readonly due_seconds?: Float64Array;
}

/** One user's exchange with the model. */
export interface Conversation {
  readonly turns: number;
  /** The request of a turn, from 0; `answers` are those to the turns before it. */
  request(turn: number, answers: readonly string[]): GenerationRequest;
  /** How long the user takes before a turn, after the answer to the one before. */
  delaySeconds(turn: number): number;
}
