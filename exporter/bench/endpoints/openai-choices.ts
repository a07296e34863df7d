import { errorMessage } from './error-message.ts';
import type { EventMeaning } from './endpoint.ts';
import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';
import { openAiUsage } from './openai-usage.ts';

/** Finish reasons with which engines report that they gave the request up. */
const FAILED_FINISH: ReadonlySet<string> = new Set(['error', 'abort']);

/**
 * The meaning of an answer, or of an event of one, that is a list of choices. Only the first choice is looked at: tokens
 * of several choices come side by side, and the time between them says nothing.
 */
export function choicesMeaning(event: unknown, hasContent: (choice: JsonObject) => boolean): EventMeaning | null {
  if (!isObject(event)) return null;
  const error = errorMessage(event);
  const listed = Array.isArray(event.choices);
  if (error === null && !listed && !isObject(event.usage)) return null;
  const choice = listed ? firstChoice(event.choices as unknown[]) : undefined;
  const finishReason = choice !== undefined && typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const content = choice !== undefined && hasContent(choice);
  const usage = openAiUsage(event.usage);
  const failed = finishReason !== null && FAILED_FINISH.has(finishReason) ? `finish_reason ${finishReason}` : null;
  const emptyStep = choice !== undefined && !content && finishReason === null && usage !== null;
  return { content, finishReason, usage, error: error ?? failed, ...(emptyStep ? { emptyStep } : {}) };
}

/** The choice with index 0, or without an index. */
export function firstChoice(choices: readonly unknown[]): JsonObject | undefined {
  return choices.filter(isObject).find((choice) => choice.index === undefined || choice.index === 0);
}
