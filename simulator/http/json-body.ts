import { mediaOf, type PromptMedia } from './media.ts';
import type { ServerResponse, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A response that refuses a request, in the shape that vLLM gives OpenAI's errors. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | number;

  /** @param code default: the status */
  constructor(
    status: number,
    type: string,
    message: string,
    param: string | null = null,
    code: string | number = status,
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.type = type;
    this.param = param;
    this.code = code;
  }

  body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } });
  }
}

export function badRequest(message: string, param: string | null = null): ApiError {
  return new ApiError(400, 'BadRequestError', message, param);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param complaint what the message begins with
 * @throws ApiError 400 for a body that is no JSON object
 */
export function parseObject(body: string, complaint = 'The body is not a JSON object'): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw badRequest(`${complaint}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw badRequest(`${complaint}: it is ${Array.isArray(value) ? 'a list' : 'a single value'}.`);
  return value;
}

/** @throws ApiError 404 when the body names another model than the one that is served */
export function checkModel(request: JsonObject, served: string): void {
  const { model } = request;
  if (model === undefined || model === null || model === served) return;
  const name = typeof model === 'string' ? model : JSON.stringify(model);
  throw new ApiError(404, 'NotFoundError', `The model \`${name}\` does not exist.`, 'model');
}

/** A number of things of which there is at least one; null when it is not given. @throws ApiError 400 */
export function readCount(request: JsonObject, key: string): number | null {
  const value = request[key];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw badRequest(`${key} must be at least 1, got ${JSON.stringify(value)}.`, key);
  }
  return value;
}

/** What a request says of the form of its response. */
export interface ResponseForm {
  readonly stream: boolean;
  /** Whether a stream ends with the counts of tokens. */
  readonly includeUsage: boolean;
}

/** `stream`, `stream_options` and `n`, as chat and completions have them. @throws ApiError 400 */
export function readResponseForm(request: JsonObject): ResponseForm {
  const stream = request['stream'] === true;
  const options = request['stream_options'];
  if (isObject(options) && !stream) {
    throw badRequest('Stream options can only be defined when `stream=True`.', 'stream_options');
  }
  if ((readCount(request, 'n') ?? 1) > 1) throw badRequest('The simulator gives one choice: `n` must be 1.', 'n');
  return { stream, includeUsage: isObject(options) && options['include_usage'] === true };
}

/** A message of a conversation. */
export interface Message {
  readonly role: string;
  readonly text: string;
  /** After the text. */
  readonly media?: readonly PromptMedia[];
}

/** @throws ApiError 400 for what is no list of messages; `key` is where it stands */
export function readMessages(value: unknown, key: string): readonly Message[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw badRequest(`\`${key}\` must be a list of at least one message.`, key);
  }
  return value.map((message: unknown) => {
    if (!isObject(message) || typeof message['role'] !== 'string') {
      throw badRequest('Each message must be an object with a role.', key);
    }
    const { content } = message;
    const media = Array.isArray(content) ? (content as unknown[]).flatMap((part) => readMedia(part)) : [];
    return { role: message['role'], text: readContent(content, key), ...(media.length > 0 && { media }) };
  });
}

const readMedia = (part: unknown): PromptMedia | readonly never[] => (isObject(part) ? (mediaOf(part) ?? []) : []);

/** The texts of content, which is a string or a list of parts. */
function readContent(content: unknown, key: string): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw badRequest('The content of a message must be a string or a list.', key);
  const texts = content.map((part: unknown) =>
    isObject(part) && typeof part['text'] === 'string' ? part['text'] : '',
  );
  return texts.join('\n');
}

/** One text, or several in a list. @throws ApiError 400 */
export function readTexts(request: JsonObject, key: string): readonly string[] {
  const value = request[key];
  const texts: readonly unknown[] = Array.isArray(value) ? (value as unknown[]) : [value];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw badRequest(`\`${key}\` must be a string or a list of strings.`, key);
  }
  return texts;
}

/** One text, or a list of one. @throws ApiError 400 */
export function readText(request: JsonObject, key: string): string {
  const value = request[key];
  const text: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof text !== 'string') {
    throw badRequest(`\`${key}\` must be a string: the simulator takes one text in a request.`, key);
  }
  return text;
}

/** Sends a complete JSON response. */
export function sendJson(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json);
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', body.length);
  response.end(body);
}

/** Sends JSON in pieces, no faster than the client reads. A client that goes away in the middle ends it. */
export async function sendTruth(response: ServerResponse, json: Iterable<string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await pipeline(Readable.from(json), response);
}

/** Enough for every prompt that fits a model, with its images and audio. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Reads a body to its end as UTF-8.
 *
 * @throws ApiError 413 when it is longer than `limit` bytes
 * @throws Error when the client goes away before the end
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    // The rest is still read, so that the client gets the response and the connection stays usable.
    if (length <= limit) pieces.push(piece);
  }
  if (length > limit) throw new ApiError(413, 'RequestTooLarge', `The body is longer than ${limit} bytes.`);
  return Buffer.concat(pieces).toString('utf8');
}
