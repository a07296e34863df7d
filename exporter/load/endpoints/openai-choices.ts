import {
  type Usage,
  isObject,
  type JsonObject,
  NO_TEXT,
  type ResponseText,
  type Endpoint,
  type EventMeaning,
  errorMessage,
} from './endpoint.ts';
import { contentOf, contentOfText, NO_CONTENT, type GeneratedContent } from './response-content.ts';

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
  const read = { input_tokens, output_tokens, reasoning_tokens, cached_tokens, ...mediaTokens(prompt) };
  return withReasoning(read, tokenCount(usage.total_tokens) || null, () => namesCache(usage) || namesCache(prompt));
}

/** OpenAI has `audio_tokens` beside the cached ones, vLLM an object with `image` and `audio`. */
function mediaTokens(prompt: JsonObject): Pick<Usage, 'image_tokens' | 'audio_tokens'> {
  const media = firstObject(prompt.multimodal_tokens, null);
  const image_tokens = firstCount(media.image, prompt.image_tokens);
  const audio_tokens = firstCount(media.audio, prompt.audio_tokens);
  return { ...(image_tokens !== null && { image_tokens }), ...(audio_tokens !== null && { audio_tokens }) };
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

/** Finish reasons with which engines report that they aborted the request. */
const FAILED_FINISH: ReadonlySet<string> = new Set(['error', 'abort']);

/** Keys whose values differ between chunks that mean the same. */
const VARIABLE_KEYS: ReadonlySet<string> = new Set([
  ...['id', 'created', 'index', 'obfuscation', 'padding', 'p', 'signature', 'thought_signature'],
  ...['content', 'refusal', 'text', 'reasoning_content', 'reasoning', 'thinking', 'summary'],
  ...['arguments', 'input', 'transcript', 'data'],
]);

/** Where a choice of an event has its text; the first that is there is read. Whole responses have no delta. */
const PLACES = {
  chat: ['delta', 'message', 'text'],
  completions: ['text', 'delta', 'message'],
} as const;
type Place = (typeof PLACES)['chat' | 'completions'][number];

/**
 * How responses that are lists of choices are read. Of several choices only the first is: their tokens are interleaved,
 * so the time between them is meaningless. `outputFields`: the only fields of unknown names that count; null: all.
 */
export function choiceReading(
  api: 'chat' | 'completions',
  outputFields: readonly string[] | null,
): Pick<Endpoint, 'interpret' | 'interpretWhole' | 'text' | 'variableKeys'> {
  const chosen = outputFields && new Set(outputFields);
  const content = (choice: JsonObject): GeneratedContent => contentOfChoice(choice, PLACES[api], chosen);
  const places = PLACES[api].filter((place) => place !== 'delta');
  const wholeContent = (choice: JsonObject): GeneratedContent => contentOfChoice(choice, places, chosen);
  return {
    variableKeys: VARIABLE_KEYS,
    interpret: (event, several = false) => meaning(event, content, several),
    interpretWhole: (json, several = false) => meaning(json, wholeContent, several),
    text(json: unknown, several = false): ResponseText {
      const choice = isObject(json) ? firstChoice(json.choices, several) : undefined;
      return choice === undefined ? NO_TEXT : content(choice).text;
    },
  };
}

function contentOfChoice(
  choice: JsonObject,
  places: readonly Place[],
  chosen: ReadonlySet<string> | null,
): GeneratedContent {
  const place = places.find((name) => choice[name] != null);
  if (place === undefined) return NO_CONTENT;
  // The reasoning of a text completion is beside the text.
  return place === 'text' ? contentOfText(choice.text, place, choice) : contentOf(choice[place], place, chosen);
}

function meaning(
  event: unknown,
  contentOfOne: (choice: JsonObject) => GeneratedContent,
  several: boolean,
): EventMeaning | null {
  if (!isObject(event)) return null;
  const error = errorMessage(event);
  const choice = firstChoice(event.choices, several);
  const usage = usageOf(event, choice);
  if (error === null && !Array.isArray(event.choices) && usage === null) return null;
  const finishReason = finishReasonOf(choice?.finish_reason);
  const { kind, unknownFields, textKeys } = choice === undefined ? NO_CONTENT : contentOfOne(choice);
  const failed = finishReason !== null && FAILED_FINISH.has(finishReason) ? `finish_reason ${finishReason}` : null;
  const emptyStep = choice !== undefined && kind === null && finishReason === null && usage !== null;
  const newKeys = textKeys.length === 0 ? textKeys : textKeys.filter((key) => !VARIABLE_KEYS.has(key));
  return {
    content: kind !== null,
    ...(kind === 'reasoning' ? { reasoning: true } : {}),
    finishReason,
    usage,
    error: error ?? failed,
    ...(emptyStep ? { emptyStep } : {}),
    ...(unknownFields.length > 0 ? { unknownFields } : {}),
    ...(newKeys.length > 0 ? { textKeys: newKeys } : {}),
  };
}

/** The choice with index 0, or without one. If only one was requested, it is the choice, whatever its index counts. */
function firstChoice(choices: unknown, several: boolean): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  let first: JsonObject | undefined;
  for (const choice of choices as unknown[]) {
    if (!isObject(choice)) continue;
    if (choice.index == null || choice.index === 0) return choice;
    first ??= choice;
  }
  return several ? undefined : first;
}

const NOT_FINISHED = /^(null|none|nil|undefined|in_progress|not_finished|(finish_reason_)?unspecified)?$/i;

/** Some servers send an empty text, or a word such as null, until the end. */
export function finishReasonOf(reason: unknown): string | null {
  return typeof reason === 'string' && !NOT_FINISHED.test(reason.trim()) ? reason : null;
}

/** Groq and Moonshot have it in other places as well. */
function usageOf(event: JsonObject, choice: JsonObject | undefined): EventMeaning['usage'] {
  const groq = isObject(event.x_groq) ? event.x_groq.usage : undefined;
  return openAiUsage(event.usage) ?? openAiUsage(groq) ?? openAiUsage(choice?.usage);
}
