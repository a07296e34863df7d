import { randomUUID } from 'node:crypto';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RequestProgress } from '../engine/events.ts';
import type { StreamTexts } from '../http/response-texts.ts';
import type { Generations } from '../http/generations.ts';
import { readPlainPrompt } from '../http/prompt.ts';
import type { StartResponse } from '../http/route-server.ts';
import { StreamReply } from '../http/stream-reply.ts';
import { WholeReply } from '../http/whole-reply.ts';
import { badRequest } from '../http/api-error.ts';

/** What was sent: the engine may be further already. */
interface SoFar {
  readonly text: string;
  readonly tokens: number;
}

/** The response so far, as SGLang's native API gives it: the whole text each time, and what is known of the request. */
function answerSoFar(id: string, { text, tokens }: SoFar, request: RequestProgress): string {
  const { promptTokens, outputTokens, cachedTokens, preemptions } = request;
  const isLast = tokens === outputTokens;
  const seconds = ((request.lastToken_ns ?? request.arrival_ns) - request.arrival_ns) / 1e9;
  return JSON.stringify({
    text,
    meta_info: {
      id,
      finish_reason: isLast ? { type: 'length', length: tokens } : null,
      prompt_tokens: promptTokens,
      weight_version: 'default',
      total_retractions: preemptions,
      completion_tokens: tokens,
      cached_tokens: cachedTokens,
      ...(isLast && { e2e_latency: seconds }),
    },
  });
}

class GenerateStreamTexts implements StreamTexts {
  readonly opening = '';
  readonly done = 'data: [DONE]\n\n';
  readonly #id: string;
  #text = '';
  #tokens = 0;

  constructor(id: string) {
    this.#id = id;
  }

  token(text: string, request: RequestProgress): string {
    this.#text += text;
    this.#tokens++;
    return `data: ${answerSoFar(this.#id, { text: this.#text, tokens: this.#tokens }, request)}\n\n`;
  }

  lastToken(text: string, request: RequestProgress): string {
    return this.token(text, request);
  }

  usage(): string {
    return '';
  }
}

/** `POST /generate`, SGLang's native API. */
export function makeGenerate(generations: Generations, { blockSize }: EngineParameters): StartResponse {
  return (body, response, ended) => {
    const { text, stream, maxTokens, rid } = readGenerateRequest(body);
    const id = rid ?? randomUUID().replaceAll('-', '');
    generations.start({
      // The client may give one id twice; the engine must not see it twice.
      id: randomUUID(),
      prompt: readPlainPrompt(text, blockSize),
      maxTokens,
      streaming: stream,
      response,
      ended,
      makeReply: (parts) => {
        if (!stream) {
          return new WholeReply({
            ...parts,
            answer: (content, request) => answerSoFar(id, { text: content, tokens: request.outputTokens }, request),
          });
        }
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.flushHeaders();
        return new StreamReply({ ...parts, texts: new GenerateStreamTexts(id), includeUsage: false });
      },
    });
  };
}

/** What the simulator understands of a body of `POST /generate`. */
interface GenerateRequest {
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
function readGenerateRequest(body: string): GenerateRequest {
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
