import { isObject, type JsonObject } from './endpoint.ts';

/**
 * The server's message in the forms that engines use: `{error: {message}}` (OpenAI, vLLM, Dynamo), `{error: "text"}`
 * (Triton, TGI), `{object: "error", message}` (older vLLM, SGLang), `{code, message}` (llama.cpp, Databricks),
 * `{type: "error", message}`, `{detail}` (FastAPI). Null when it is not an error.
 */
export function errorMessage(response: JsonObject): string | null {
  const { error } = response;
  if (isObject(error)) return withParameter(said(error.message) ?? text(error.type) ?? NO_MESSAGE, error.param);
  if (typeof error === 'string') return error === '' ? NO_MESSAGE : error;
  if (response.object === 'error') return withParameter(said(response.message) ?? NO_MESSAGE, response.param);
  if (response.choices === undefined) {
    const code = CODES.map((name) => response[name]).find(isCode);
    const isError = response.type === 'error' || (code !== undefined && !NO_ERROR.test(String(code)));
    if (isError && text(response.message) !== null) return text(response.message);
  }
  if (response.detail !== undefined && response.choices === undefined) return said(response.detail) ?? NO_MESSAGE;
  return null;
}

const CODES = ['code', 'error_code', 'status_code'] as const;
/** Codes of what succeeded. */
const NO_ERROR = /^(0|2\d\d|ok|success)$/i;

const isCode = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

const NO_MESSAGE = 'error without a message';

/** A text, or the list of what is wrong as JSON (FastAPI, Mistral). */
function said(message: unknown): string | null {
  return text(message) ?? (isObject(message) || Array.isArray(message) ? JSON.stringify(message) : null);
}

/** The name of the field that is wrong, which some messages leave out. */
const withParameter = (message: string, parameter: unknown): string =>
  typeof parameter === 'string' && parameter !== '' && !message.includes(parameter)
    ? `${message} (${parameter})`
    : message;

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
