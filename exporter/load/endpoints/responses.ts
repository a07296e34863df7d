import type { AnswerText, Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { NO_TEXT } from './endpoint.ts';
import { errorMessage } from './error-message.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { messages, openAiBody } from './openai-body.ts';
import { responsesUsage } from './openai-usage.ts';

const REASONING_DELTAS: ReadonlySet<string> = new Set([
  'response.reasoning_text.delta',
  'response.reasoning.delta',
  'response.reasoning_summary_text.delta',
]);
const OUTPUT_DELTAS: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.function_call_arguments.delta',
]);

/** OpenAI's `/v1/responses`: every event has a type, and the last one contains the complete response with its usage. */
export const responses: Endpoint = {
  type: 'responses',
  path: '/v1/responses',
  ownFields: ['model', 'stream', 'stream_options', 'input', 'max_output_tokens'],
  modes: ['stream', 'whole'],
  wholeBy: 'event',
  generates: true,
  variableKeys: new Set(['delta', 'item_id', 'sequence_number', 'obfuscation']),

  body(request: GenerationRequest, options: GenerationOptions): string {
    // Usage always comes with the last event, and `stream_options.include_usage` is unknown to this API.
    return openAiBody({ input: messages(request) }, 'max_output_tokens', request, { ...options, includeUsage: false });
  },

  interpret(event: unknown): EventMeaning | null {
    if (!isObject(event)) return null;
    const { type } = event;
    if (typeof type !== 'string') {
      const error = errorMessage(event);
      return error === null ? null : { content: false, finishReason: null, usage: null, error };
    }
    if (type === 'error') {
      const error = errorMessage(event) ?? text(event.message) ?? 'error without a message';
      return { content: false, finishReason: null, usage: null, error };
    }
    if (isDelta(type)) {
      const content = text(event.delta) !== null;
      const reasoning = content && REASONING_DELTAS.has(type);
      return { content, ...(reasoning ? { reasoning } : {}), finishReason: null, usage: null, error: null };
    }
    // All other events repeat or announce what the deltas carry.
    const last = type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
    if (!last || !isObject(event.response)) return { content: false, finishReason: null, usage: null, error: null };
    return { ...endOf(event.response), content: false };
  },

  interpretWhole(answer: unknown): EventMeaning | null {
    if (!isObject(answer)) return null;
    const error = isObject(answer.error) || typeof answer.error === 'string' ? errorMessage(answer) : null;
    if (error === null && !Array.isArray(answer.output)) return null;
    const { output, reasoning } = responses.text(answer);
    return { ...endOf(answer), content: output !== '' || reasoning !== '' || hasCall(answer) };
  },

  text(json: unknown): AnswerText {
    if (!isObject(json)) return NO_TEXT;
    if (typeof json.type === 'string' && isDelta(json.type)) {
      const delta = text(json.delta) ?? '';
      if (REASONING_DELTAS.has(json.type)) return { output: '', reasoning: delta };
      return json.type === 'response.function_call_arguments.delta' ? NO_TEXT : { output: delta, reasoning: '' };
    }
    const items = Array.isArray(json.output) ? (json.output as unknown[]).filter(isObject) : [];
    const textOf = (wanted: string): string =>
      items.flatMap((item) => (item.type === wanted ? contentTexts(item) : [])).join('');
    return { output: textOf('message'), reasoning: textOf('reasoning') };
  },
};

const isDelta = (type: string): boolean => OUTPUT_DELTAS.has(type) || REASONING_DELTAS.has(type);

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Status, usage and error of a response object. */
function endOf(response: JsonObject): Omit<EventMeaning, 'content'> {
  const { status } = response;
  const usage = responsesUsage(response.usage);
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
  return (response.output as unknown[]).some((item) => isObject(item) && item.type === 'function_call');
}
