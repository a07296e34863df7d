import type { RequestProgress } from '../engine/events.ts';
import { usageOf } from '../http/answer-texts.ts';
import type { AnswerDialect, AnswerHead, StreamTexts } from '../http/answer-texts.ts';
import { flatError } from '../http/flat-error.ts';

/** Marks the token at which the model stopped by itself. */
const STOP_TOKEN = 2;

const matchedStop = ({ finishReason }: RequestProgress): number | null => (finishReason === 'stop' ? STOP_TOKEN : null);

/** SGLang's chunks: the finish reason comes in one of its own, without text, and `usage` is null until the end. */
class SglangStreamTexts implements StreamTexts {
  readonly opening: string;
  readonly done = 'data: [DONE]\n\n';
  readonly #head: string;

  constructor({ id, created, model }: AnswerHead) {
    const object = 'chat.completion.chunk';
    this.#head = `data: ${JSON.stringify({ id, object, created, model }).slice(0, -1)},"choices":[`;
    this.opening = this.#chunk('"assistant"', '""', 'null', null);
  }

  token(text: string): string {
    return this.#chunk('null', `"${text}"`, 'null', null);
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, request: RequestProgress): string {
    const end = this.#chunk('null', 'null', `"${request.finishReason}"`, matchedStop(request));
    return request.finishReason === 'stop' ? end : this.token(text) + end;
  }

  usage(request: RequestProgress): string {
    const usage = { ...usageOf(request), prompt_tokens_details: null };
    return `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  #chunk(role: string, content: string, finishReason: string, stop: number | null): string {
    const delta = `{"role":${role},"content":${content},"reasoning_content":null,"tool_calls":null}`;
    const choice = `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason},"matched_stop":${stop}}`;
    return `${this.#head}${choice}],"usage":null}\n\n`;
  }
}

function wholeAnswer({ id, created, model }: AnswerHead, content: string, request: RequestProgress): string {
  const message = { role: 'assistant', content, reasoning_content: null, tool_calls: null };
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: request.finishReason,
        matched_stop: matchedStop(request),
      },
    ],
    usage: { ...usageOf(request), prompt_tokens_details: null },
    metadata: { weight_version: 'default' },
  });
}

export const SGLANG_ANSWERS: AnswerDialect = {
  stream: (head) => new SglangStreamTexts(head),
  whole: wholeAnswer,
  error: flatError,
};
