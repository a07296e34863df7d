import type { Usage } from './endpoint.ts';
import { isObject } from './json-object.ts';

/** The `usage` object of OpenAI's chat, completions and embeddings; null when it is missing. */
export function openAiUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    input_tokens: tokenCount(usage.prompt_tokens),
    output_tokens: tokenCount(usage.completion_tokens),
    reasoning_tokens: tokenCount(completion.reasoning_tokens) ?? tokenCount(usage.reasoning_tokens),
    cached_tokens: tokenCount(prompt.cached_tokens),
  };
}

/** The `usage` object of OpenAI's responses. */
export function responsesUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const input = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    input_tokens: tokenCount(usage.input_tokens),
    output_tokens: tokenCount(usage.output_tokens),
    reasoning_tokens: tokenCount(output.reasoning_tokens),
    cached_tokens: tokenCount(input.cached_tokens),
  };
}

/** A count that a server reports; null for anything that is not a count. */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
