import type { ApiError } from './api-error.ts';

/** A refusal in the older shape of OpenAI servers, which SGLang and TensorRT-LLM keep: no object `error` around it. */
export function flatError({ message, type, param, status }: ApiError): string {
  return JSON.stringify({ object: 'error', message, type, param, code: status });
}
