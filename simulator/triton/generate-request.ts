import { badRequest } from '../http/api-error.ts';

/** A request of the generate extension. */
export interface GenerateRequest {
  readonly text: string;
  readonly maxTokens: number | null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the body of `generate` and `generate_stream`. The limit of tokens is an input of its own (TensorRT-LLM) or a
 * parameter (vLLM).
 *
 * @throws ApiError 400 for a body that is not such a request
 */
export function readGenerateRequest(body: string): GenerateRequest {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch (error) {
    throw badRequest(`failed to parse the request JSON buffer: ${error instanceof Error ? error.message : body}`);
  }
  if (!isObject(request)) throw badRequest('failed to parse the request JSON buffer: not an object');
  const text = request['text_input'];
  if (typeof text !== 'string') throw badRequest("expected 'text_input' to be a string");
  const parameters = isObject(request['parameters']) ? request['parameters'] : {};
  const maxTokens = request['max_tokens'] ?? parameters['max_tokens'] ?? null;
  if (maxTokens === null) return { text, maxTokens };
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw badRequest(`'max_tokens' must be a positive integer, got ${JSON.stringify(maxTokens)}`);
  }
  return { text, maxTokens };
}
