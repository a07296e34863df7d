import { errorMessage } from './error-message.ts';
import type { EventMeaning } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { openAiUsage } from './openai-usage.ts';

/** Finish reasons with which engines report that they aborted the request. */
const FAILED_FINISH: ReadonlySet<string> = new Set(['error', 'abort']);

/** What a choice adds; null: no content. */
export type ChoiceContent = 'output' | 'reasoning' | null;

/**
 * The meaning of a response, or of one of its events, that is a list of choices. Only the first choice is read: tokens
 * of several choices are interleaved, so the time between them is meaningless.
 */
export function choicesMeaning(event: unknown, contentOf: (choice: JsonObject) => ChoiceContent): EventMeaning | null {
  if (!isObject(event)) return null;
  const error = errorMessage(event);
  const listed = Array.isArray(event.choices);
  if (error === null && !listed && !isObject(event.usage)) return null;
  const choice = listed ? firstChoice(event.choices as unknown[]) : undefined;
  const finishReason = choice !== undefined && typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const kind = choice === undefined ? null : contentOf(choice);
  const usage = openAiUsage(event.usage);
  const failed = finishReason !== null && FAILED_FINISH.has(finishReason) ? `finish_reason ${finishReason}` : null;
  const emptyStep = choice !== undefined && kind === null && finishReason === null && usage !== null;
  return {
    content: kind !== null,
    ...(kind === 'reasoning' ? { reasoning: true } : {}),
    finishReason,
    usage,
    error: error ?? failed,
    ...(emptyStep ? { emptyStep } : {}),
  };
}

/** The choice with index 0, or without an index. */
export function firstChoice(choices: readonly unknown[]): JsonObject | undefined {
  return choices.filter(isObject).find((choice) => choice.index === undefined || choice.index === 0);
}
