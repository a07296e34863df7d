import type { JsonObject, Message } from '../endpoints/endpoint.ts';
import type { TurnPlace } from './dataset.ts';

/** Formats of sessions, of which a folder has one file or more per session. */
export const SESSION_TYPES = [
  'sessions',
  'agentic_mooncake',
  'dag_jsonl',
  'otel_spans',
  'tracelab',
  'weka_trace',
] as const;

/** Values of `--history`: which answers the later requests of a session repeat. */
export const HISTORIES = ['recorded', 'live'] as const;
export type History = (typeof HISTORIES)[number];

/** A request of a session as its file has it. */
export interface PlannedRequest {
  readonly place: TurnPlace;
  /** Number of the request whose messages and answer precede its own; null: none. */
  readonly continues: number | null;
  readonly messages: readonly Message[];
  /** A message of random words that follows them; null: none. */
  readonly words: PlannedWords | null;
  /** Null: not recorded. */
  readonly answer: Message | null;
  readonly outputTokens: number | null;
  readonly tools: readonly JsonObject[] | null;
  readonly extra: JsonObject | null;
}

/** A text of which the file has the length, and ids of its blocks: equal ones have equal words. */
export interface PlannedWords {
  readonly tokens: number;
  readonly hashIds: readonly number[];
  readonly blockTokens: number;
  /** Whose ids they are; empty: those of the file. */
  readonly scope: string;
}
