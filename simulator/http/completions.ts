import type { RequestProgress } from '../engine/events.ts';
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
import { usageOf, type ResponseDialect, type ResponseHead, type StreamTexts } from './reply.ts';
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

/** What stands in a choice beside text, index and finish reason, with JSON `null` where there is nothing to say. */
export interface ChoiceFields {
  readonly stream: readonly string[];
  readonly whole: readonly string[];
}

/** How a server words completions: all take OpenAI's shape, and differ in what they add to a choice. */
export function textCompletionDialect(fields: ChoiceFields): ResponseDialect {
  const nulls = (names: readonly string[]): Record<string, null> =>
    Object.fromEntries(names.map((name) => [name, null]));
  return {
    stream: (head) => new TextCompletionTexts(head, fields.stream),
    whole: ({ id, created, model }, text, request) =>
      JSON.stringify({
        ...{ id, object: 'text_completion', created, model },
        choices: [{ index: 0, text, finish_reason: request.finishReason, logprobs: null, ...nulls(fields.whole) }],
        usage: usageOf(request),
      }),
  };
}

class TextCompletionTexts implements StreamTexts {
  readonly opening = '';
  readonly done = 'data: [DONE]\n\n';
  readonly #head: string;
  readonly #tail: string;

  /** `fields`: members of each choice that are null. */
  constructor({ id, created, model }: ResponseHead, fields: readonly string[]) {
    const head = JSON.stringify({ id, object: 'text_completion', created, model }).slice(0, -1);
    this.#head = `data: ${head},"choices":[`;
    this.#tail = `${fields.map((name) => `,"${name}":null`).join('')}}`;
  }

  token(text: string): string {
    return this.#chunk(text, 'null');
  }

  /** When the model stops by itself the last token is its stop mark: no text. */
  lastToken(text: string, { finishReason }: RequestProgress): string {
    return this.#chunk(finishReason === 'stop' ? '' : text, `"${finishReason}"`);
  }

  usage(request: RequestProgress): string {
    return `${this.#head}],"usage":${JSON.stringify(usageOf(request))}}\n\n`;
  }

  #chunk(text: string, finishReason: string): string {
    const choice = `{"index":0,"text":"${text}","logprobs":null,"finish_reason":${finishReason}${this.#tail}`;
    return `${this.#head}${choice}],"usage":null}\n\n`;
  }
}
