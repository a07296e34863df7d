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

/** What all answers to one request have in common. */
export interface AnswerHead {
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

/** How one server words its answers to chat completion requests. */
export interface AnswerDialect {
  stream(head: AnswerHead): StreamTexts;
  /** The JSON of an answer to a request without `stream`. */
  whole(head: AnswerHead, content: string, request: RequestProgress): string;
  /** The JSON of a refusal. Default: an object `error` with message, type, param and code. */
  error?(error: ApiError): string;
}

/** Cut so that a token costs no more than joining strings. */
class VllmStreamTexts implements StreamTexts {
  /** A role and no content. */
  readonly opening: string;
  readonly #head: string;
  readonly #beforeToken: string;

  constructor({ id, created, model }: AnswerHead) {
    const object = 'chat.completion.chunk';
    this.#head = `data: ${JSON.stringify({ id, object, created, model }).slice(0, -1)},"choices":[`;
    this.opening = `${this.#head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}\n\n`;
    this.#beforeToken = `${this.#head}{"index":0,"delta":{"content":"`;
  }

  token(text: string): string {
    return `${this.#beforeToken}${text}"},"logprobs":null,"finish_reason":null,"token_ids":null}]}\n\n`;
  }

  /** The last token carries the finish reason. When the model stops by itself that token is its stop mark: no text. */
  lastToken(text: string, { finishReason }: RequestProgress): string {
    const content = finishReason === 'stop' ? '' : text;
    return `${this.#beforeToken}${content}"},"logprobs":null,"finish_reason":"${finishReason}","stop_reason":null,"token_ids":null}]}\n\n`;
  }

  usage(request: RequestProgress): string {
    return `${this.#head}],"usage":${JSON.stringify(usageOf(request))}}\n\n`;
  }

  readonly done = 'data: [DONE]\n\n';
}

function wholeVllmAnswer({ id, created, model }: AnswerHead, content: string, request: RequestProgress): string {
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: null, audio: null, function_call: null },
        logprobs: null,
        finish_reason: request.finishReason,
        stop_reason: null,
      },
    ],
    service_tier: null,
    system_fingerprint: null,
    usage: { ...usageOf(request), prompt_tokens_details: null },
    prompt_logprobs: null,
  });
}

export const VLLM_ANSWERS: AnswerDialect = { stream: (head) => new VllmStreamTexts(head), whole: wholeVllmAnswer };
