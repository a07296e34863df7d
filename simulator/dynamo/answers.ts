import type { RequestProgress } from '../engine/events.ts';
import { usageOf } from '../http/answer-texts.ts';
import type { AnswerDialect, AnswerHead, StreamTexts } from '../http/answer-texts.ts';

/** Dynamo names the role in every chunk, and gives the finish reason in a chunk without content. */
class DynamoStreamTexts implements StreamTexts {
  readonly opening = '';
  readonly done = 'data: [DONE]\n\n';
  /** An error with status 200, and no finish reason before it. */
  readonly failed =
    'data: {"error":{"message":"Internal server error","type":"internal_server_error","code":500}}\n\ndata: [DONE]\n\n';
  readonly #id: string;
  readonly #common: string;
  readonly #beforeToken: string;
  readonly #afterToken: string;

  constructor({ id, created, model }: AnswerHead) {
    this.#id = `data: {"id":${JSON.stringify(id)},"choices":[`;
    this.#common = `],"created":${created},"model":${JSON.stringify(model)},"service_tier":null,"system_fingerprint":null,"object":"chat.completion.chunk","usage":`;
    this.#beforeToken = `${this.#id}{"index":0,"delta":{"content":"`;
    this.#afterToken = `","role":"assistant"},"finish_reason":null,"logprobs":null}${this.#common}null}\n\n`;
  }

  token(text: string): string {
    return `${this.#beforeToken}${text}${this.#afterToken}`;
  }

  /** When the model stops by itself the token is its stop mark: no text. */
  lastToken(text: string, { finishReason }: RequestProgress): string {
    const last = finishReason === 'stop' ? '' : this.token(text);
    return `${last}${this.#id}{"index":0,"delta":{"role":"assistant"},"finish_reason":"${finishReason}","logprobs":null}${this.#common}null}\n\n`;
  }

  usage(request: RequestProgress): string {
    return `${this.#id}${this.#common}${JSON.stringify(usageOf(request))}}\n\n`;
  }
}

/** The answers of Dynamo's frontend, 1.4.2. */
export const DYNAMO_ANSWERS: AnswerDialect = {
  stream: (head) => new DynamoStreamTexts(head),
  whole: ({ id, created, model }, content, request) =>
    JSON.stringify({
      id,
      choices: [
        { index: 0, message: { content, role: 'assistant' }, finish_reason: request.finishReason, logprobs: null },
      ],
      created,
      model,
      service_tier: null,
      system_fingerprint: null,
      object: 'chat.completion',
      usage: usageOf(request),
    }),
};
