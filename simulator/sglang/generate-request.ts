import { badRequest } from '../http/api-error.ts';

/** What the simulator understands of a body of `POST /generate`. */
export interface GenerateRequest {
  readonly text: string;
  readonly stream: boolean;
  /** `sampling_params.max_new_tokens`; SGLang's default is 128. */
  readonly maxTokens: number;
  /** The client's own id of the request. */
  readonly rid: string | null;
}

const DEFAULT_MAX_NEW_TOKENS = 128;

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** @throws ApiError 400 for a body that is not such a request */
export function readGenerateRequest(body: string): GenerateRequest {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw badRequest(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const request = objectOf(value);
  if (request === null) throw badRequest('The body is not a JSON object.');
  if (typeof request['text'] !== 'string') throw badRequest('`text` must be a string: the simulator takes one prompt.');
  const sampling = objectOf(request['sampling_params'] ?? {});
  if (sampling === null) throw badRequest('`sampling_params` must be an object.');
  const maxTokens = sampling['max_new_tokens'] ?? DEFAULT_MAX_NEW_TOKENS;
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw badRequest(`max_new_tokens must be at least 1, got ${JSON.stringify(maxTokens)}.`);
  }
  const rid = typeof request['rid'] === 'string' ? request['rid'] : null;
  return { text: request['text'], stream: request['stream'] === true, maxTokens, rid };
}
