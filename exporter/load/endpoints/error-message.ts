import { isObject } from './json-object.ts';
import type { JsonObject } from './json-object.ts';

/**
 * The server's message in the forms that engines use: `{error: {message}}` (OpenAI, vLLM, Dynamo), `{error: "text"}`
 * (Triton, TGI), `{object: "error", message}` (older vLLM, SGLang), `{code, message}` (llama.cpp, Databricks),
 * `{type: "error", message}`, `{detail}` (FastAPI). Null when it is not an error.
 */
export function errorMessage(answer: JsonObject): string | null {
  const { error } = answer;
  if (isObject(error)) return text(error.message) ?? text(error.type) ?? 'error without a message';
  if (typeof error === 'string') return error === '' ? 'error without a message' : error;
  if (answer.object === 'error') return text(answer.message) ?? 'error without a message';
  if (answer.type === 'error' && answer.choices === undefined && text(answer.message) !== null)
    return text(answer.message);
  const code = CODES.map((name) => answer[name]).find(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  if (code !== undefined && !NO_ERROR.test(String(code)) && answer.choices === undefined) {
    const message = text(answer.message);
    if (message !== null) return message;
  }
  if (answer.detail !== undefined && answer.choices === undefined)
    return text(answer.detail) ?? JSON.stringify(answer.detail);
  return null;
}

const CODES = ['code', 'error_code', 'status_code'] as const;
/** Codes of what succeeded. */
const NO_ERROR = /^(0|2\d\d|ok|success)$/i;

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
