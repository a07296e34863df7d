import type { RequestProgress } from '../engine/events.ts';
import type { ResponseDialect, ResponseHead, StreamTexts } from './reply.ts';
import type { ApiOptions } from './completions.ts';
import { checkModel, parseObject, readCount, readMessages } from './json-body.ts';
import type { JsonObject, Message } from './json-body.ts';
import { startResponse } from './openai-response.ts';
import { readPrompt } from './prompt.ts';
import type { StartResponse } from './route-server.ts';

/** `POST /v1/responses`. Nothing is stored: `previous_response_id` is ignored. */
export function makeResponses({ model, parameters, generations }: ApiOptions): StartResponse {
  const dialect: ResponseDialect = {
    stream: (head) => new ResponseEvents(head),
    whole: (head, text, request) => JSON.stringify(endedResponse(head, text, request)),
  };
  return (body, response, ended) => {
    const request = parseObject(body);
    checkModel(request, model);
    const requested = {
      route: '/v1/responses',
      idPrefix: 'resp_',
      model,
      prompt: readPrompt(readInput(request), parameters.blockSize),
      maxTokens: readCount(request, 'max_output_tokens'),
      stream: request['stream'] === true,
      // Its last event always has them.
      includeUsage: true,
    };
    startResponse(generations, requested, dialect, { response, ended });
  };
}

function readInput({ input, instructions }: JsonObject): readonly Message[] {
  const reported = typeof instructions === 'string' ? [{ role: 'system', text: instructions }] : [];
  return [...reported, ...(typeof input === 'string' ? [{ role: 'user', text: input }] : readMessages(input, 'input'))];
}

/** The events of one response: each has a type and its place in their order, and the last one repeats the whole. */
class ResponseEvents implements StreamTexts {
  readonly done = '';
  readonly announcement: string;
  readonly opening: string;
  readonly #head: ResponseHead;
  readonly #item: string;
  #events = 0;
  #text = '';

  constructor(head: ResponseHead) {
    this.#head = head;
    this.#item = itemId(head);
    const response = responseObject(head, { status: 'in_progress', output: [], usage: null });
    this.announcement =
      this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
    this.opening =
      this.#event('response.output_item.added', { output_index: 0, item: message(this.#item, 'in_progress', []) }) +
      this.#event('response.content_part.added', { ...this.#place(), part: outputText('') });
  }

  token(text: string): string {
    this.#text += text;
    return this.#event('response.output_text.delta', { ...this.#place(), delta: text, logprobs: [] });
  }

  /** When the model stops by itself the last token is its stop mark: no text, and no event. */
  lastToken(text: string, { finishReason }: RequestProgress): string {
    return finishReason === 'stop' ? '' : this.token(text);
  }

  usage(request: RequestProgress): string {
    const part = outputText(this.#text);
    return (
      this.#event('response.output_text.done', { ...this.#place(), text: this.#text, logprobs: [] }) +
      this.#event('response.content_part.done', { ...this.#place(), part }) +
      this.#event('response.output_item.done', { output_index: 0, item: message(this.#item, 'completed', [part]) }) +
      // Also when the response was cut at its length: vLLM reports it in the status only.
      this.#event('response.completed', { response: endedResponse(this.#head, this.#text, request) })
    );
  }

  #place(): JsonObject {
    return { item_id: this.#item, output_index: 0, content_index: 0 };
  }

  #event(type: string, members: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#events++, ...members })}\n\n`;
  }
}

const itemId = ({ id }: ResponseHead): string => `msg_${id.slice('resp_'.length)}`;

const outputText = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: null });

function message(id: string, status: string, content: readonly JsonObject[]): JsonObject {
  return { id, type: 'message', role: 'assistant', status, content };
}

function endedResponse(head: ResponseHead, text: string, request: RequestProgress): JsonObject {
  const isCut = request.finishReason === 'length';
  const { promptTokens, generatedTokens } = request;
  return responseObject(head, {
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: [message(itemId(head), 'completed', [outputText(text)])],
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: request.cachedTokens },
      output_tokens: generatedTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + generatedTokens,
    },
  });
}

function responseObject({ id, created, model }: ResponseHead, members: JsonObject): JsonObject {
  return {
    ...{ id, object: 'response', created_at: created, model, error: null, incomplete_details: null },
    ...{
      instructions: null,
      metadata: null,
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: 'auto',
      tools: [],
    },
    ...{ top_p: 1, background: false, previous_response_id: null, service_tier: 'auto', truncation: 'disabled' },
    ...members,
  };
}
