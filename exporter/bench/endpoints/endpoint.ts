import type { JsonValue } from '../../../core/run/canonical-json.ts';
import type { JsonObject } from './json-object.ts';

/** One turn of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What one request asks for; the text is made by the dataset. */
export interface GenerationRequest {
  /** The text of the turn that is to be answered. */
  readonly prompt: string;
  /** What goes before it: system prompt, context, earlier turns with their answers; absent: nothing. */
  readonly history?: readonly Message[];
  /** Always sent, so that no answer is longer than was planned. */
  readonly max_tokens: number;
  /** Tokens of prompt and history as a tokenizer on this side counts them, without the chat template; absent: not counted. */
  readonly input_tokens?: number;
  /** A body given as it is: only what the run decides (stream, usage) is written over it, and what it lacks (model, length) is added. */
  readonly payload?: JsonObject;
}

/** What is the same for every request of a run. */
export interface GenerationOptions {
  readonly model: string;
  /** Sent as they are: temperature, seed, ignore_eos, min_tokens, … */
  readonly sampling: Readonly<Record<string, JsonValue>>;
  /** Asks for a last event with the server's token counts; off only for servers that refuse the field. */
  readonly includeUsage: boolean;
  /** Whether the answer is to come as a stream; absent: yes. */
  readonly stream?: boolean;
}

/** The server's own token counts; null where it does not tell. */
export interface Usage {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cached_tokens: number | null;
}

/** What one event of a stream says, or a whole answer. */
export interface EventMeaning {
  /** It carries generated output: text, refusal, reasoning or a part of a tool call. */
  readonly content: boolean;
  /** All of the content is reasoning; absent: it is not. */
  readonly reasoning?: true;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  /** The server's message when the event is an error. */
  readonly error: string | null;
  /**
   * Only from servers whose events repeat what came before: how far the answer is, in tokens or characters. What moved it
   * on is content, and `content` says no more than that there is some.
   */
  readonly progress?: number;
  /** A step of the generation that has no text: when the server's count of output tokens grew with it, a token arrived. */
  readonly emptyStep?: boolean;
}

/** The text of an event or of a whole answer. */
export interface AnswerText {
  readonly output: string;
  readonly reasoning: string;
}

export const NO_TEXT: AnswerText = { output: '', reasoning: '' };

/** One API of inference servers: how a request is written and what the events of its answer mean. */
export interface Endpoint {
  /** The name in `--endpoint-type`. */
  readonly type: string;
  readonly path: string;
  /** Fields of the body that are this side's to set, so that they cannot be given as extra inputs. */
  readonly ownFields: readonly string[];
  /** Whether there is a streamed form, and a form of one JSON answer. */
  readonly modes: readonly AnswerMode[];
  /**
   * What tells that a stream is whole: `event`, a finish reason, or usage and the done event; `done`, either of them;
   * `body`, the end of the HTTP body.
   */
  readonly wholeBy: 'event' | 'done' | 'body';
  /** Whether the output tokens of an event are those since the one before, so that they have to be added up. */
  readonly addsUsage?: boolean;
  /** The data of the event after which nothing counts; absent: `[DONE]`. */
  readonly doneData?: string;
  /** Whether the answer is generated text, token by token; false for embeddings. */
  readonly generates: boolean;
  body(request: GenerationRequest, options: GenerationOptions): string;
  /** The meaning of an event's JSON; null when it is not of this protocol. */
  interpret(event: unknown): EventMeaning | null;
  /** The meaning of an answer that is not a stream; null when it is not of this protocol. */
  interpretWhole(answer: unknown): EventMeaning | null;
  /** The text in an event or in a whole answer. */
  text(json: unknown): AnswerText;
  /**
   * Keys whose values differ between events that mean the same. `interpret` depends on a string under them only by its
   * being empty or not, and on a number under them not at all; so events may be recognised without parsing them.
   */
  readonly variableKeys: ReadonlySet<string>;
}

export type AnswerMode = 'stream' | 'whole';
