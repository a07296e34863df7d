import type { Usage } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';

/**
 * The `usage` object of OpenAI's APIs, under the names of chat and completions (`prompt_tokens`) and of responses
 * (`input_tokens`); null when it has no count.
 */
export function openAiUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const prompt = firstObject(usage.prompt_tokens_details, usage.input_tokens_details);
  const completion = firstObject(usage.completion_tokens_details, usage.output_tokens_details);
  const input_tokens = firstCount(usage.prompt_tokens, usage.input_tokens);
  const output_tokens = firstCount(usage.completion_tokens, usage.output_tokens);
  const reasoning_tokens = firstCount(completion.reasoning_tokens, usage.reasoning_tokens);
  const cached_tokens = firstCount(prompt.cached_tokens, usage.prompt_cache_hit_tokens);
  if ((input_tokens ?? output_tokens ?? reasoning_tokens ?? cached_tokens) === null) return null;
  const read = { input_tokens, output_tokens, reasoning_tokens, cached_tokens };
  return withReasoning(read, tokenCount(usage.total_tokens) || null, () => namesCache(usage) || namesCache(prompt));
}

/**
 * Usage in which the output tokens include those of reasoning. Some servers count them beside, as the total shows, or in
 * the total alone, whose rest may also be cached tokens where there are some.
 */
function withReasoning(usage: Usage, total: number | null, hasCached: () => boolean): Usage {
  const { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning } = usage;
  if (output === null) return usage;
  const other = total === null || input === null || input === 0 ? null : total - input - output;
  if (reasoning === null || reasoning === 0)
    return other !== null && other > 0 && !hasCached()
      ? { ...usage, output_tokens: output + other, reasoning_tokens: other }
      : usage;
  const isBeside = other === null ? reasoning > output : other === reasoning;
  return isBeside ? { ...usage, output_tokens: output + reasoning } : usage;
}

const namesCache = (usage: JsonObject): boolean =>
  Object.entries(usage).some(([name, value]) => name.includes('cache') && typeof value === 'number' && value > 0);

const NONE: JsonObject = {};

const firstObject = (a: unknown, b: unknown): JsonObject => (isObject(a) ? a : isObject(b) ? b : NONE);

/** The first count that is not zero, else zero if one is. */
function firstCount(a: unknown, b: unknown): number | null {
  const [first, second] = [tokenCount(a), tokenCount(b)];
  return first || second || (first ?? second);
}

/** A count that a server reports; null for anything that is not a count. */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
