import { createHash } from 'node:crypto';
import type { RecordedLoad } from '../../../core/run/load.ts';
import type { LoadPhase } from '../../../core/run/record.ts';
import type { RunAudio, RunImages } from '../../../core/run/run-dataset.ts';
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
   * In datasets of conversations, instead of `request`: the conversation at a position of a phase, from 0. Each of its
   * requests is sent when those before it have their responses.
   */
  readonly conversation?: (phase: LoadPhase, position: number) => Conversation;
  /**
   * When each request is due, in whole nanoseconds since the start of the trace, by position; absent: the dataset has
   * no times.
   */
  readonly due_ns?: Float64Array;
  /**
   * What prompts share on purpose: of the request at a position, or of each turn of the conversation there, in order;
   * absent: nothing, or it is not known.
   */
  readonly shared?: (phase: LoadPhase | 'probe', position: number) => readonly PromptReuse[];
  /** Media of its requests, which not all endpoints read; absent: there are none. */
  readonly images?: RunImages;
  readonly audio?: RunAudio;
  /** Its messages have roles and calls of tools, which not all endpoints can send; absent: no. */
  readonly hasTools?: boolean;
  /** The recorded load that a plan reproduces; absent: none. */
  readonly recordedLoad?: RecordedLoad;
  /** What a user should know of how the file was read, a line each; absent: nothing. */
  readonly notes?: readonly string[];
}

/** What of a prompt other prompts may begin with too. */
export interface PromptReuse {
  /** All tokens of the prompt, as planned. */
  readonly tokens: number;
  /** From its beginning: texts that other prompts with the same segments before have too. */
  readonly segments: readonly PromptSegment[];
  /** Of the tokens, those that an earlier turn of the same conversation had, with its planned response; 0: none. */
  readonly earlier: number;
}

/** Equal keys stand for equal texts. */
export interface PromptSegment {
  readonly key: string | number;
  readonly tokens: number;
}

/** An exchange with the model: of a user, or of agents that work for one. Its requests are numbered from 0. */
export interface Conversation {
  readonly requests: number;
  /** `responses` are those to the earlier requests, by number; an empty one has no message. */
  request(number: number, responses: readonly (string | undefined)[]): GenerationRequest;
  place(number: number): TurnPlace;
}

/** When a request of a conversation is sent, and whose turn it is. */
export interface TurnPlace {
  /** Numbers, all lower than its own, of the requests whose responses it waits for; empty: it follows the start. */
  readonly after: readonly number[];
  /** The user's pause after the last of them. */
  readonly thinkSeconds: number;
  /** Time of tools, after the pause; null: none was called. */
  readonly toolSeconds: number | null;
  /** Number of the turn of its agent, from 1. */
  readonly turn: number;
  /** Number of the agent, from 1; null: there is only one. */
  readonly agent: number | null;
  /** Recorded time since the start of the conversation; null: not known. */
  readonly recordedSeconds: number | null;
}

/** The place in a conversation of turns that follow each other, from 0. */
export function turnInOrder(turn: number, thinkSeconds: number): TurnPlace {
  return {
    after: turn === 0 ? [] : [turn - 1],
    thinkSeconds: turn === 0 ? 0 : thinkSeconds,
    toolSeconds: null,
    turn: turn + 1,
    agent: null,
    recordedSeconds: null,
  };
}

/** The hash of a plan: of its JSON with sorted keys, so that it does not depend on how the plan was written. */
export function planSha256(plan: Readonly<Record<string, string | number | null>>): string {
  const sorted = Object.fromEntries(Object.entries(plan).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
