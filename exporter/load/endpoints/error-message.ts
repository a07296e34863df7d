import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';

/**
 * The server's message in the forms that engines use: `{error: {message}}` (OpenAI, vLLM, Dynamo), `{error: "text"}`
 * (Triton, TGI), `{object: "error", message}` (older vLLM, SGLang), `{detail}` (FastAPI). Null when it is not an error.
 */
export function errorMessage(answer: JsonObject): string | null {
  const { error } = answer;
  if (isObject(error)) return text(error.message) ?? text(error.type) ?? 'error without a message';
  if (typeof error === 'string') return error === '' ? 'error without a message' : error;
  if (answer.object === 'error') return text(answer.message) ?? 'error without a message';
  if (answer.detail !== undefined && answer.choices === undefined)
    return text(answer.detail) ?? JSON.stringify(answer.detail);
  return null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
