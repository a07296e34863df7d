import { ApiError, badRequest } from './api-error.ts';

/** What the simulator understands of a chat completion request; everything else in it is ignored. */
export interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** `max_completion_tokens`, or else `max_tokens`; null when neither is given. */
  readonly maxTokens: number | null;
}

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the body of `POST /v1/chat/completions`.
 *
 * @param model the model that is served
 * @throws ApiError 400 for a body that is not such a request, 404 for another model
 */
export function readChatRequest(body: string, model: string): ChatRequest {
  const request = parseObject(body);
  if (request['model'] !== undefined && request['model'] !== null && request['model'] !== model) {
    const name = typeof request['model'] === 'string' ? request['model'] : JSON.stringify(request['model']);
    throw new ApiError(404, 'NotFoundError', `The model \`${name}\` does not exist.`, 'model');
  }
  const stream = request['stream'] === true;
  const options = request['stream_options'];
  if (isObject(options) && !stream) {
    throw badRequest('Stream options can only be defined when `stream=True`.', 'stream_options');
  }
  if ((readCount(request, 'n') ?? 1) > 1) throw badRequest('The simulator gives one choice: `n` must be 1.', 'n');
  return {
    messages: readMessages(request['messages']),
    stream,
    includeUsage: isObject(options) && options['include_usage'] === true,
    maxTokens: readCount(request, 'max_completion_tokens') ?? readCount(request, 'max_tokens'),
  };
}

function parseObject(body: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw badRequest(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw badRequest('The body is not a JSON object.');
  return value;
}

function readCount(request: JsonObject, key: string): number | null {
  const value = request[key];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw badRequest(`${key} must be at least 1, got ${JSON.stringify(value)}.`, key);
  }
  return value;
}

function readMessages(value: unknown): ChatRequest['messages'] {
  if (!Array.isArray(value) || value.length === 0) {
    throw badRequest('`messages` must be a list of at least one message.', 'messages');
  }
  return value.map((message: unknown) => {
    if (!isObject(message) || typeof message['role'] !== 'string') {
      throw badRequest('Each message must be an object with a role.', 'messages');
    }
    return { role: message['role'], text: readContent(message['content']) };
  });
}

/** Content is a string or a list of parts; of these only text counts. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw badRequest('The content of a message must be a string or a list.', 'messages');
  const texts = content.map((part: unknown) =>
    isObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
  );
  return texts.join('\n');
}
