import type { RequestProgress } from '../engine/events.ts';
import type { ApiError } from './api-error.ts';

interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
}

/** The tokens of a request so far, as OpenAI's `usage`. */
export function usageOf({ promptTokens, generatedTokens }: RequestProgress): Usage {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + generatedTokens,
    completion_tokens: generatedTokens,
  };
}

/** What all responses to one request have in common. */
export interface ResponseHead {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

/** The server-sent events of one stream, as one server writes them. */
export interface StreamTexts {
  /** What comes as soon as the request is taken, long before the first token. Default: nothing. */
  readonly announcement?: string;
  /** What comes right before the first token. */
  readonly opening: string;
  /** @param text letters and blanks, which JSON takes as they are */
  token(text: string, request: RequestProgress): string;
  lastToken(text: string, request: RequestProgress): string;
  usage(request: RequestProgress): string;
  /** What ends the stream. */
  readonly done: string;
  /** What ends a stream whose engine is gone. Default: nothing, the connection breaks. */
  readonly failed?: string;
}

/** How one server words its responses to chat completion requests. */
export interface ResponseDialect {
  stream(head: ResponseHead, includeUsage: boolean): StreamTexts;
  /** The JSON of a response to a request without `stream`. */
  whole(head: ResponseHead, content: string, request: RequestProgress): string;
  /** The JSON of a refusal. Default: an object `error` with message, type, param and code. */
  error?(error: ApiError): string;
}
