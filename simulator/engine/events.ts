import type { BlockLife } from './blocks.ts';

/** Why a request ended: it reached its limit of tokens, or the model stopped. */
export type FinishReason = 'length' | 'stop';

/** A request as it is handed to the engine. */
export interface EngineRequest {
  /** Unique among the requests in the engine. */
  readonly id: string;
  /** Nanoseconds on the engine's clock; later than the time it was last advanced to. */
  readonly arrival_ns: number;
  readonly promptTokens: number;
  /** One hash per full block of the prompt, each covering everything before it; none: the prompt shares nothing. */
  readonly promptBlockHashes?: readonly number[];
  /** Tokens to generate; reached exactly unless the request is aborted. 0: the prompt is computed and that is all. */
  readonly outputTokens: number;
  /** How the request ends when it has its tokens. Default `length`. */
  readonly finishReason?: FinishReason;
  /** Whether the response is streamed: of no matter to the engine, but servers count it. Default true. */
  readonly streaming?: boolean;
  /** Path of the API that it came by: of no matter to the engine either. Default: chat completions. */
  readonly route?: string;
}

/** What became of a request so far; filled in as the engine advances, and final with its last event. Times in ns. */
export interface RequestProgress {
  readonly id: string;
  readonly arrival_ns: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly finishReason: FinishReason;
  readonly streaming: boolean;
  /** First time that it was taken into a step. */
  readonly scheduled_ns: number | null;
  readonly firstToken_ns: number | null;
  readonly lastToken_ns: number | null;
  readonly generatedTokens: number;
  /** Prompt tokens that the prefix cache had when the request was first scheduled, in whichever tier. */
  readonly cachedTokens: number;
  /** Those of them that came back from each offload tier. */
  readonly offloadedTokens: readonly number[];
  readonly preemptions: number;
}

interface RequestEvent {
  readonly request: RequestProgress;
  readonly time_ns: number;
}

/** Taken into a step: for the first time, or again after a preemption. */
export interface ScheduledEvent extends RequestEvent {
  readonly kind: 'scheduled';
  readonly resumed: boolean;
}

/** Pushed back to the queue because the KV cache ran out; its tokens stay, their KV blocks are computed again. */
export interface PreemptedEvent extends RequestEvent {
  readonly kind: 'preempted';
  /** Tokens that it had by then. */
  readonly generatedTokens: number;
}

/**
 * A token was generated. `index` counts from 0; `previous_ns` is the time of the token before, null for the first. With
 * speculative decoding several come at one time.
 */
export interface TokenEvent extends RequestEvent {
  readonly kind: 'token';
  readonly index: number;
  readonly previous_ns: number | null;
}

/** All tokens are generated. Follows the last token at the same time. */
export interface FinishedEvent extends RequestEvent {
  readonly kind: 'finished';
}

/** Taken out by `abort`. No further event of this request follows. */
export interface AbortedEvent extends RequestEvent {
  readonly kind: 'aborted';
}

/** What is in the engine at the time it was advanced to. */
export interface EngineState {
  readonly now_ns: number;
  /** Requests in the batch. */
  readonly running: number;
  /** Requests in the queue. */
  readonly waiting: number;
  readonly usedKvBlocks: number;
  readonly numKvBlocks: number;
  /** Free blocks that still have content. */
  readonly cachedKvBlocks: number;
  /** Blocks with content in each offload tier. */
  readonly offloadedBlocks: readonly number[];
}

/** A step of the model ended. Comes before the events of its tokens. */
export interface StepEvent {
  readonly kind: 'step';
  readonly start_ns: number;
  readonly time_ns: number;
  /** Tokens that were prefilled, those computed again after a preemption included. */
  readonly prefillTokens: number;
  /** Requests in the step. */
  readonly sequences: number;
  /** Those of them that generate without prefilling anything. */
  readonly decoding: number;
  /** The engine as the step began. */
  readonly state: EngineState;
  /** Of the draft tokens of this step; null without speculative decoding. */
  readonly drafts: DraftCounts | null;
}

/** What became of the draft tokens of one step. */
export interface DraftCounts {
  /** Requests that had a draft; each of `draftTokens` tokens. */
  readonly sequences: number;
  /** Draft tokens taken, by their position in the draft. */
  readonly acceptedByPosition: readonly number[];
}

/** Content of KV blocks moved as a step was put together. Comes before the events of its requests. */
export interface KvTrafficEvent {
  readonly kind: 'kv-traffic';
  readonly time_ns: number;
  /** Blocks whose content left the device. */
  readonly evicted: number;
  /** Blocks that each offload tier took in. */
  readonly stored: readonly number[];
  /** Blocks that came back from each offload tier. */
  readonly loaded: readonly number[];
  /** Blocks whose content is now nowhere. */
  readonly dropped: number;
  /** Of each block whose content left the device. */
  readonly lives: readonly BlockLife[];
}

export type EngineEvent =
  ScheduledEvent | PreemptedEvent | TokenEvent | FinishedEvent | AbortedEvent | StepEvent | KvTrafficEvent;
