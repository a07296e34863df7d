import type { RequestProgress } from '../engine/events.ts';
import { usageOf } from '../http/answer-texts.ts';
import type { AnswerDialect, AnswerHead, StreamTexts } from '../http/answer-texts.ts';
import { flatError } from '../http/flat-error.ts';

/** trtllm-serve's chunks: the last token carries the finish reason, and `usage` is null until the end. */
class TrtllmStreamTexts implements StreamTexts {
  readonly opening: string;
  readonly done = 'data: [DONE]\n\n';
  readonly #head: string;

  constructor({ id, created, model }: AnswerHead) {
    const object = 'chat.completion.chunk';
    this.#head = `data: ${JSON.stringify({ id, object, created, model }).slice(0, -1)},"choices":[`;
    this.opening = this.#chunk('"role":"assistant","content":""', 'null');
  }

  token(text: string): string {
    return this.#chunk(`"role":null,"content":"${text}"`, 'null');
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, { finishReason }: RequestProgress): string {
    return this.#chunk(`"role":null,"content":"${finishReason === 'stop' ? '' : text}"`, `"${finishReason}"`);
  }

  usage(request: RequestProgress): string {
    return `${this.#head}],"usage":${JSON.stringify(usageOf(request))}}\n\n`;
  }

  #chunk(delta: string, finishReason: string): string {
    const choice = `{"index":0,"delta":{${delta},"reasoning_content":null,"tool_calls":[]},"logprobs":null,"finish_reason":${finishReason},"stop_reason":null,"disaggregated_params":null}`;
    return `${this.#head}${choice}],"usage":null}\n\n`;
  }
}

function wholeAnswer({ id, created, model }: AnswerHead, content: string, request: RequestProgress): string {
  const message = { role: 'assistant', content, reasoning_content: null, tool_calls: [] };
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
        stop_reason: null,
        disaggregated_params: null,
      },
    ],
    usage: usageOf(request),
    prompt_token_ids: null,
  });
}

export const TRTLLM_ANSWERS: AnswerDialect = {
  stream: (head) => new TrtllmStreamTexts(head),
  whole: wholeAnswer,
  error: flatError,
};
