import { checkModel, parseObject, readAnswerForm, readCount, readMessages } from './json-body.ts';
import type { AnswerForm, Message } from './json-body.ts';

/** What the simulator understands of a chat completion request; everything else in it is ignored. */
export interface ChatRequest extends AnswerForm {
  readonly messages: readonly Message[];
  /** `max_completion_tokens`, or else `max_tokens`; null when neither is given. */
  readonly maxTokens: number | null;
}

/**
 * Reads the body of `POST /v1/chat/completions`.
 *
 * @param model the model that is served
 * @throws ApiError 400 for a body that is not such a request, 404 for another model
 */
export function readChatRequest(body: string, model: string): ChatRequest {
  const request = parseObject(body);
  checkModel(request, model);
  return {
    ...readAnswerForm(request),
    messages: readMessages(request['messages'], 'messages'),
    maxTokens: readCount(request, 'max_completion_tokens') ?? readCount(request, 'max_tokens'),
  };
}
