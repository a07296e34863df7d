import type { EngineParameters } from '../engine/parameters.ts';
import type { ResponseDialect } from './response-texts.ts';
import type { Generations } from './generations.ts';
import { startResponse } from './openai-response.ts';
import { readPrompt } from './prompt.ts';
import type { StartResponse } from './route-server.ts';
import {
  checkModel,
  parseObject,
  readResponseForm,
  readCount,
  readMessages,
  type ResponseForm,
  type Message,
} from './json-body.ts';

/** What an API is made of. */
export interface ApiOptions {
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly generations: Generations;
}

/** `POST /v1/chat/completions`. */
export function makeChatCompletions(
  { model, parameters, generations }: ApiOptions,
  dialect: ResponseDialect,
): StartResponse {
  return (body, response, ended) => {
    const { messages, ...form } = readChatRequest(body, model);
    const prompt = readPrompt(messages, parameters.blockSize);
    const api = { route: '/v1/chat/completions', idPrefix: 'chatcmpl-', model, prompt };
    startResponse(generations, { ...form, ...api }, dialect, { response, ended });
  };
}

/** What the simulator understands of a chat completion request; everything else in it is ignored. */
interface ChatRequest extends ResponseForm {
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
function readChatRequest(body: string, model: string): ChatRequest {
  const request = parseObject(body);
  checkModel(request, model);
  return {
    ...readResponseForm(request),
    messages: readMessages(request['messages'], 'messages'),
    maxTokens: readCount(request, 'max_completion_tokens') ?? readCount(request, 'max_tokens'),
  };
}
