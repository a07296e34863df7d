import { errorMessage } from './error-message.ts';
import type { Endpoint, EventMeaning, GenerationOptions, GenerationRequest } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { openAiUsage } from './openai-usage.ts';

/** Finish reasons with which engines report that they gave the request up. */
const FAILED_FINISH: ReadonlySet<string> = new Set(['error', 'abort']);

/** Text of a delta, under the names that engines use for reasoning (`reasoning` and `reasoning_content`). */
const TEXT_KEYS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const;

/** OpenAI's `/v1/chat/completions` with `stream: true`. */
export const chat: Endpoint = {
  type: 'chat',
  path: '/v1/chat/completions',
  variableKeys: new Set(['id', 'created', 'obfuscation', 'arguments', ...TEXT_KEYS]),

  body(request: GenerationRequest, options: GenerationOptions): string {
    return JSON.stringify({
      ...options.sampling,
      model: options.model,
      messages: [{ role: 'user', content: request.prompt }],
      max_tokens: request.max_tokens,
      stream: true,
      ...(options.includeUsage ? { stream_options: { include_usage: true } } : {}),
    });
  },

  interpret(event: unknown): EventMeaning | null {
    if (!isObject(event)) return null;
    const error = errorMessage(event);
    if (error === null && !Array.isArray(event.choices) && !isObject(event.usage)) return null;
    let content = false;
    let finishReason: string | null = null;
    for (const choice of Array.isArray(event.choices) ? (event.choices as unknown[]) : []) {
      if (!isObject(choice)) continue;
      if (isObject(choice.delta) && hasContent(choice.delta)) content = true;
      if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
    }
    const failed = finishReason !== null && FAILED_FINISH.has(finishReason) ? `finish_reason ${finishReason}` : null;
    return { content, finishReason, usage: openAiUsage(event.usage), error: error ?? failed };
  },
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function hasContent(delta: JsonObject): boolean {
  if (TEXT_KEYS.some((key) => isText(delta[key]))) return true;
  if (isFunctionCall(delta.function_call)) return true;
  return Array.isArray(delta.tool_calls) && (delta.tool_calls as unknown[]).some(isToolCall);
}

function isToolCall(call: unknown): boolean {
  return isObject(call) && isFunctionCall(call.function);
}

/** The first piece of a call carries its name, the further ones the text of its arguments. */
function isFunctionCall(call: unknown): boolean {
  return isObject(call) && (isText(call.name) || isText(call.arguments));
}
