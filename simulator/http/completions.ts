import type { EngineParameters } from '../engine/parameters.ts';
import type { Generations } from './generations.ts';
import {
  checkModel,
  parseObject,
  readResponseForm,
  readCount,
  readMessages,
  readText,
  type ResponseForm,
  type Message,
} from './json-body.ts';
import { startResponse } from './openai-response.ts';
import { readPrompt, readPlainPrompt } from './prompt.ts';
import type { ResponseDialect } from './reply.ts';
import type { StartResponse } from './route-server.ts';

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

/** OpenAI's default of this API, which all servers keep. */
const DEFAULT_MAX_TOKENS = 16;

/** `POST /v1/completions`: a prompt without a chat template. */
export function makeTextCompletions(
  { model, parameters, generations }: ApiOptions,
  dialect: ResponseDialect,
): StartResponse {
  return (body, response, ended) => {
    const request = parseObject(body);
    checkModel(request, model);
    const requested = {
      ...readResponseForm(request),
      route: '/v1/completions',
      idPrefix: 'cmpl-',
      model,
      prompt: readPlainPrompt(readText(request, 'prompt'), parameters.blockSize),
      maxTokens: readCount(request, 'max_tokens') ?? DEFAULT_MAX_TOKENS,
    };
    startResponse(generations, requested, dialect, { response, ended });
  };
}
