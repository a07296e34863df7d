import {
  type Endpoint,
  type EventMeaning,
  type GenerationOptions,
  type GenerationRequest,
  isObject,
  type JsonObject,
  type Message,
  NO_TEXT,
  type ResponseText,
  type Usage,
  errorMessage,
} from './endpoint.ts';
import { finishReasonOf, tokenCount } from './openai-choices.ts';
import { messages, openAiBody, contentOf } from './openai.ts';
import { dataOf } from '../media/media-urls.ts';
import { textIn } from './response-content.ts';

/** Of the API that these events are of; servers other than Anthropic's ignore it. */
const API_VERSION = '2023-06-01';

const NOTHING: EventMeaning = { content: false, finishReason: null, usage: null, error: null };

const REASONING = /thinking/;
/** Blocks and deltas that are not of the model. */
const NO_OUTPUT = /signature|citation|tool_result/;
const DELTAS = /^(text|thinking|input_json)_delta$/;

/**
 * Anthropic's `/v1/messages`: typed events of content blocks. The first event has the usage of the prompt, and the one
 * with the stop reason that of the output. `outputFields`: the only types of unknown deltas that count as output; null:
 * all.
 */
export function messagesEndpoint(outputFields: readonly string[] | null): Endpoint {
  return {
    type: 'messages',
    path: '/v1/messages',
    ownFields: ['model', 'stream', 'messages', 'system', 'max_tokens'],
    lengthField: 'max_tokens',
    modes: ['stream', 'whole'],
    wholeBy: 'event',
    generates: true,
    media: ['images'],
    variableKeys: new Set(['text', 'thinking', 'partial_json']),
    // Anthropic reads the first, vLLM and SGLang read `authorization`, which every request has.
    headers: (apiKey) => ({
      'anthropic-version': API_VERSION,
      ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    }),

    body(request: GenerationRequest, options: GenerationOptions): string {
      // Usage always comes, and `stream_options` is unknown to this API.
      const input = { ...conversation(messages(request)), tools: request.tools?.map(toolOf) };
      return openAiBody(input, 'max_tokens', request, { ...options, includeUsage: false });
    },

    interpret(event: unknown): EventMeaning | null {
      if (!isObject(event)) return null;
      switch (event.type) {
        case 'message_start':
          return isObject(event.message) ? { ...NOTHING, usage: usageOf(event.message.usage) } : null;
        case 'content_block_start':
          return isObject(event.content_block) ? blockMeaning(event.content_block) : null;
        case 'content_block_delta':
          return isObject(event.delta) ? deltaMeaning(event.delta, outputFields) : null;
        case 'message_delta':
          return { ...NOTHING, finishReason: stopReason(event.delta), usage: usageOf(event.usage) };
        case 'content_block_stop':
        case 'message_stop':
        case 'ping':
          return NOTHING;
        default: {
          const error = errorMessage(event);
          return error === null ? null : { ...NOTHING, error };
        }
      }
    },

    interpretWhole(response: unknown): EventMeaning | null {
      if (!isObject(response)) return null;
      const error = errorMessage(response);
      if (error !== null) return { ...NOTHING, error };
      if (!Array.isArray(response.content)) return null;
      const blocks = (response.content as unknown[]).filter(isObject);
      return {
        ...NOTHING,
        content: blocks.some((block) => blockMeaning(block).content),
        finishReason: stopReason(response),
        usage: usageOf(response.usage),
      };
    },

    text(json: unknown): ResponseText {
      if (!isObject(json)) return NO_TEXT;
      if (isObject(json.delta)) return textOf([json.delta]);
      if (isObject(json.content_block)) return textOf([json.content_block]);
      return Array.isArray(json.content) ? textOf((json.content as unknown[]).filter(isObject)) : NO_TEXT;
    },
  };
}

/** System prompts are beside the messages of this API; calls of tools and their results are blocks of messages. */
function conversation(all: readonly Message[]): JsonObject {
  const isSpoken = ({ role }: Message): boolean => role !== 'system' && role !== 'developer';
  const system = all.filter((message) => !isSpoken(message)).map(({ content }) => content);
  return {
    ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
    messages: all.filter(isSpoken).map(spoken),
  };
}

function spoken(message: Message): JsonObject {
  const { role, content, tool_calls: calls, tool_call_id: tool_use_id } = message;
  if (role === 'tool') return { role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] };
  if (calls === undefined) return { role, content: contentOf(message, { text: textBlock, image: imageBlock }) };
  const text = content === '' ? [] : [textBlock(content)];
  const used = calls.map(({ id, function: called }) =>
    isObject(called) ? { type: 'tool_use', id, name: called.name, input: argumentsOf(called.arguments) } : {},
  );
  return { role, content: [...text, ...used] };
}

/** Chat completions have them as JSON text, which a model may have left incomplete: this API takes objects alone. */
function argumentsOf(text: unknown): JsonObject {
  try {
    const given: unknown = JSON.parse(String(text));
    return isObject(given) ? given : {};
  } catch {
    return {};
  }
}

function toolOf({ function: called }: JsonObject): JsonObject {
  const { name, description, parameters = { type: 'object' } } = isObject(called) ? called : {};
  return { name, description, input_schema: parameters };
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text });

function imageBlock(url: string): JsonObject {
  const image = dataOf(url);
  const source =
    image === null ? { type: 'url', url } : { type: 'base64', media_type: image.mediaType, data: image.base64 };
  return { type: 'image', source };
}

/** A block has text in a complete response, and in a stream mostly only its type; that of a call has its name. */
function blockMeaning(block: JsonObject): EventMeaning {
  const type = String(block.type);
  const isOutput = type.endsWith('tool_use') || isRedacted(block) || textIn(block) !== '';
  if (!isOutput || NO_OUTPUT.test(type)) return NOTHING;
  return { ...NOTHING, content: true, ...(REASONING.test(type) ? { reasoning: true } : {}) };
}

function deltaMeaning(delta: JsonObject, outputFields: readonly string[] | null): EventMeaning {
  const type = String(delta.type);
  const isKnown = DELTAS.test(type);
  if (NO_OUTPUT.test(type) || textIn(delta) === '') return NOTHING;
  if (!isKnown && outputFields?.includes(type) === false) return NOTHING;
  return {
    ...NOTHING,
    content: true,
    ...(REASONING.test(type) ? { reasoning: true } : {}),
    ...(isKnown || outputFields !== null ? {} : { unknownFields: [type] }),
  };
}

/** Thinking that is sent encrypted was generated all the same. */
const isRedacted = ({ type, data }: JsonObject): boolean =>
  type === 'redacted_thinking' && typeof data === 'string' && data !== '';

function textOf(parts: readonly JsonObject[]): ResponseText {
  const joined = (name: string): string =>
    parts.map((part) => (typeof part[name] === 'string' ? part[name] : '')).join('');
  return { output: joined('text'), reasoning: joined('thinking') };
}

const stopReason = (holder: unknown): string | null => (isObject(holder) ? finishReasonOf(holder.stop_reason) : null);

/** The prompt is what was read from the cache, what was written to it, and the rest, which alone is `input_tokens`. */
function usageOf(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const parts = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens].map(tokenCount);
  const known = parts.filter((part) => part !== null);
  const input_tokens = known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0);
  const output_tokens = tokenCount(usage.output_tokens);
  if ((input_tokens ?? output_tokens) === null) return null;
  return { input_tokens, output_tokens, reasoning_tokens: null, cached_tokens: parts[1] ?? null };
}
