import { parseJson, JsonTextError } from '../reading/json-text.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';

/** What one response of a request brought, as perf_analyzer kept it. */
export interface ResponseContent {
  /** It held text, reasoning or a tool call; null when the file keeps no outputs. */
  readonly hasContent: boolean | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly isError: boolean;
}

const UNKNOWN: ResponseContent = { hasContent: null, inputTokens: null, outputTokens: null, isError: false };
const EMPTY: ResponseContent = { ...UNKNOWN, hasContent: false };

/** Reads `{"response": "data: {…}\n\n"}` (OpenAI, several events at once too) and `{"text_output": "…"}` (Triton). */
export function responseContent(output: unknown): ResponseContent {
  if (!isObject(output)) return UNKNOWN;
  const { response, text_output: text } = output;
  if (typeof text === 'string') return { ...UNKNOWN, hasContent: text !== '' };
  if (typeof response !== 'string') return UNKNOWN;
  return response
    .split('\n')
    .map((line) => line.replace(/^data:\s?/, '').trim())
    .filter((line) => line !== '' && line !== '[DONE]' && !line.startsWith(':') && !line.startsWith('event:'))
    .map(eventContent)
    .reduce(joined, EMPTY);
}

function joined(a: ResponseContent, b: ResponseContent): ResponseContent {
  return {
    hasContent: a.hasContent === true || b.hasContent === true,
    inputTokens: b.inputTokens ?? a.inputTokens,
    outputTokens: b.outputTokens ?? a.outputTokens,
    isError: a.isError || b.isError,
  };
}

function eventContent(line: string): ResponseContent {
  const event = parsedObject(line);
  if (event === null) return EMPTY;
  const usage = event.object('usage');
  const choices = event.list('choices') ?? [];
  return {
    hasContent: choices.some((choice) => isObject(choice) && hasContent(choice)),
    inputTokens: usage?.count('prompt_tokens') ?? null,
    outputTokens: usage?.count('completion_tokens') ?? null,
    isError: isObject(event.raw('error')),
  };
}

function parsedObject(line: string): Fields | null {
  try {
    const { value } = parseJson(line);
    return isObject(value) ? new Fields(value, new ImportNotes()) : null;
  } catch (error) {
    // An event that perf_analyzer split has no content itself.
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function hasContent(choice: Readonly<Record<string, unknown>>): boolean {
  const delta = choice['delta'] ?? choice['message'];
  if (isText(choice['text'])) return true;
  if (!isObject(delta)) return false;
  const { content, reasoning_content: reasoning, reasoning: other, tool_calls: calls } = delta;
  return [content, reasoning, other].some(isText) || (Array.isArray(calls) && calls.length > 0);
}
