import type { Usage } from './endpoint.ts';
import { isObject } from './json-object.ts';

/** The `usage` object of OpenAI's chat and completions; null when there is none. */
export function openAiUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    input_tokens: count(usage.prompt_tokens),
    output_tokens: count(usage.completion_tokens),
    reasoning_tokens: count(completion.reasoning_tokens) ?? count(usage.reasoning_tokens),
    cached_tokens: count(prompt.cached_tokens),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
