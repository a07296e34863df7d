import {
  type ResponseText,
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  NO_TEXT,
  isObject,
  type JsonObject,
  type Message,
  errorMessage,
} from './endpoint.ts';
import { messages, openAiBody, contentOf } from './openai.ts';
import { openAiUsage } from './openai-choices.ts';
import { textIn } from './response-content.ts';

/** What the deltas of events carry, by the names between `response.` and `.delta`. */
const TEXT = /^(output_text|refusal)$/;
const REASONING = /reasoning|thinking|thought/;
const OTHER = /^((output_)?audio|.*(call_arguments|tool_call_input|call_code|call\.arguments|call\.code))$/;
const TRANSCRIPT = /^(output_)?audio[._]transcript$/;
/** Items that the model wrote besides messages. */
const CALL = /^(function|custom_tool|mcp|code_interpreter)_call$/;

const NOTHING: EventMeaning = { content: false, finishReason: null, usage: null, error: null };

/**
 * OpenAI's `/v1/responses`: every event has a type, and the last one contains the complete response with its usage.
 * `outputFields`: the only event types of unknown deltas that count as output; null: all.
 */
export function responsesEndpoint(outputFields: readonly string[] | null): Endpoint {
  return {
    type: 'responses',
    path: '/v1/responses',
    ownFields: ['model', 'stream', 'stream_options', 'input', 'max_output_tokens'],
    lengthField: 'max_output_tokens',
    modes: ['stream', 'whole'],
    wholeBy: 'event',
    generates: true,
    media: ['images'],
    variableKeys: new Set(['delta', 'text', 'item_id', 'sequence_number', 'obfuscation']),

    body(request: GenerationRequest, options: GenerationOptions): string {
      // Usage always comes with the last event, and `stream_options.include_usage` is unknown to this API.
      const input = { input: messages(request).flatMap(items), tools: request.tools?.map(flatTool) };
      return openAiBody(input, 'max_output_tokens', request, { ...options, includeUsage: false });
    },

    interpret(event: unknown): EventMeaning | null {
      if (!isObject(event)) return null;
      const { type } = event;
      if (typeof type !== 'string' || type === 'error') {
        const error = errorMessage(event) ?? (type === 'error' ? (text(event.message) ?? NO_MESSAGE) : null);
        return error === null ? null : { ...NOTHING, error };
      }
      const kind = deltaOf(type);
      if (kind !== null) return deltaMeaning(kind, type, event.delta, outputFields);
      // All other events repeat or announce what the deltas carry.
      const last = type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
      return last && isObject(event.response) ? { ...endOf(event.response), content: false } : NOTHING;
    },

    interpretWhole(answer: unknown): EventMeaning | null {
      if (!isObject(answer)) return null;
      const error = isObject(answer.error) || typeof answer.error === 'string' ? errorMessage(answer) : null;
      if (error === null && !Array.isArray(answer.output)) return null;
      const { output, reasoning } = textOf(answer);
      return { ...endOf(answer), content: output !== '' || reasoning !== '' || hasCall(answer) };
    },

    text: (json: unknown): ResponseText => (isObject(json) ? textOf(json) : NO_TEXT),
  };
}

export const responses = responsesEndpoint(null);

/** Calls of tools and their results are items of their own in this API. */
function items(message: Message): readonly JsonObject[] {
  const { role, content, tool_calls: calls = [], tool_call_id: call_id } = message;
  if (role === 'tool') return [{ type: 'function_call_output', call_id, output: content }];
  const called = calls.map(({ id, function: called }) => ({
    type: 'function_call',
    call_id: id,
    ...(isObject(called) ? { name: called.name, arguments: called.arguments } : {}),
  }));
  const parts = contentOf(message, {
    text: (said) => ({ type: 'input_text', text: said }),
    image: (url) => ({ type: 'input_image', image_url: url, detail: 'auto' }),
  });
  return content === '' && called.length > 0 ? called : [{ role, content: parts }, ...called];
}

/** A function has its fields beside its type. */
const flatTool = ({ function: called, ...tool }: JsonObject): JsonObject => ({
  ...tool,
  ...(isObject(called) ? called : {}),
});

const NO_MESSAGE = 'error without a message';

/** What a delta is of; null when the event is none. */
const deltaOf = (type: string): string | null => /^response\.(.+)\.delta$/.exec(type)?.[1] ?? null;

function deltaMeaning(
  kind: string,
  type: string,
  delta: unknown,
  outputFields: readonly string[] | null,
): EventMeaning {
  const isKnown = [TEXT, REASONING, OTHER, TRANSCRIPT].some((known) => known.test(kind));
  if (textIn(delta) === '' || (!isKnown && outputFields?.includes(type) === false)) return NOTHING;
  return {
    ...NOTHING,
    content: true,
    ...(REASONING.test(kind) ? { reasoning: true } : {}),
    ...(isKnown || outputFields !== null ? {} : { unknownFields: [type] }),
  };
}

function textOf(json: JsonObject): ResponseText {
  const kind = typeof json.type === 'string' ? deltaOf(json.type) : null;
  if (kind !== null) {
    const delta = textIn(json.delta);
    if (REASONING.test(kind)) return { output: '', reasoning: delta };
    return OTHER.test(kind) ? NO_TEXT : { output: delta, reasoning: '' };
  }
  const items = Array.isArray(json.output) ? (json.output as unknown[]).filter(isObject) : [];
  const textsOf = (wanted: string): string =>
    items.flatMap((item) => (item.type === wanted ? contentTexts(item) : [])).join('');
  return { output: textsOf('message'), reasoning: textsOf('reasoning') };
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Status, usage and error of a response object. */
function endOf(response: JsonObject): Omit<EventMeaning, 'content'> {
  const { status } = response;
  const usage = openAiUsage(response.usage);
  const failed = status === 'failed' || status === 'cancelled' || isObject(response.error);
  if (failed) {
    return { finishReason: null, usage, error: errorMessage(response) ?? `status ${String(status)}` };
  }
  const details = isObject(response.incomplete_details) ? text(response.incomplete_details.reason) : null;
  const finished = status === 'completed' ? 'completed' : status === 'incomplete' ? (details ?? 'incomplete') : null;
  return { finishReason: finished, usage, error: null };
}

function contentTexts(item: JsonObject): string[] {
  const parts = [item.content, item.summary].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return parts.filter(isObject).flatMap((part) => text(part.text) ?? text(part.refusal) ?? []);
}

function hasCall(response: JsonObject): boolean {
  return (response.output as unknown[]).some((item) => isObject(item) && CALL.test(String(item.type)));
}
