import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { FinishedEvent } from '../engine/events.ts';
import {
  ApiError,
  badRequest,
  checkModel,
  isObject,
  parseObject,
  readCount,
  readTexts,
  sendJson,
} from './json-body.ts';
import type { JsonObject } from './json-body.ts';
import type { ApiOptions } from './completions.ts';
import type { Reply } from './engine-driver.ts';
import type { ReplyParts } from './generations.ts';
import { readPlainPrompt } from './prompt.ts';
import type { RouteHandler, StartResponse } from './route-server.ts';
import type { RouteParts } from './server.ts';

const DIMENSIONS = 1024;

/** What a request asks for: texts that the engine reads, and the response when it has read them. */
interface PoolingRequest {
  readonly idPrefix: string;
  readonly texts: readonly string[];
  /** The response for the tokens of each text: a list, or members beside id and model. */
  readonly respond: (tokens: readonly number[]) => JsonObject | readonly JsonObject[];
}

/** The routes of servers that read texts and generate nothing, as vLLM has them, and rerank of TEI and NIM. */
export function poolingRoutes({
  api,
  responding,
}: Pick<RouteParts, 'api' | 'responding'>): Readonly<Record<string, RouteHandler>> {
  const route = (path: string, read: (request: JsonObject) => PoolingRequest): readonly [string, RouteHandler] => [
    `POST ${path}`,
    responding(path, pooled(api, path, read)),
  ];
  return Object.fromEntries([
    route('/pooling', (request) => readEmbedding(request, 'pooling', 'data')),
    route('/score', readScore),
    route('/rerank', (request) => (request['texts'] === undefined ? readRerank(request) : readTeiRerank(request))),
    ...['/v1/rerank', '/v2/rerank'].map((path) => route(path, readRerank)),
    route('/v1/ranking', readNimRanking),
  ]);
}

/** `POST /v1/embeddings`, as a server of an embedding model has it. */
export function makeEmbeddings(api: ApiOptions): StartResponse {
  return pooled(api, '/v1/embeddings', (request) => readEmbedding(request, 'embedding', 'embedding'));
}

/** Each text is a request of the engine, which computes it and generates nothing. */
function pooled(
  { model, parameters, generations }: ApiOptions,
  route: string,
  readRequest: (request: JsonObject) => PoolingRequest,
): StartResponse {
  return (body, response, ended) => {
    const request = parseObject(body);
    checkModel(request, model);
    const { idPrefix, texts, respond } = readRequest(request);
    const id = `${idPrefix}-${randomUUID().replaceAll('-', '')}`;
    const prompts = texts.map((text) => readPlainPrompt(text, parameters.blockSize));
    const read = respond(prompts.map(({ tokens }) => tokens));
    const answer = JSON.stringify(Array.isArray(read) ? read : { id, model, ...read });
    const reply = new PooledReply(response, texts.length, answer, ended);
    response.setMaxListeners(texts.length + 10);
    response.setHeader('x-request-id', id);
    prompts.forEach((prompt, i) =>
      generations.start({
        ...{ id: `${id}-${i}`, route, prompt, maxTokens: 0, streaming: false, response, ended: () => reply.gone() },
        makeReply: (parts) => reply.of(parts),
      }),
    );
  };
}

function readEmbedding(request: JsonObject, object: 'embedding' | 'pooling', member: string): PoolingRequest {
  const dimensions = readCount(request, 'dimensions') ?? DIMENSIONS;
  const format = request['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64') {
    throw badRequest(`encoding_format must be float or base64, got ${JSON.stringify(format)}.`, 'encoding_format');
  }
  const encoded = (values: number[]): number[] | string => (format === 'float' ? values : base64(values));
  return {
    idPrefix: object === 'embedding' ? 'embd' : 'pool',
    texts: readTexts(request, 'input'),
    respond: (tokens) =>
      list(tokens, (length, index) => ({ index, object, [member]: encoded(vector(length, dimensions)) })),
  };
}

function readScore(request: JsonObject): PoolingRequest {
  const pairs = readPairs(request, 'text_1', 'text_2');
  return {
    idPrefix: 'score',
    texts: pairs,
    respond: (tokens) => list(tokens, (_, index) => ({ index, object: 'score', score: relevance(pairs[index] ?? '') })),
  };
}

function readRerank(request: JsonObject): PoolingRequest {
  const documents = readTexts(request, 'documents');
  const pairs = readPairs(request, 'query', 'documents');
  const wanted = readCount(request, 'top_n') ?? documents.length;
  const results = documents
    .map((text, index) => ({ index, document: { text }, relevance_score: relevance(pairs[index] ?? '') }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, wanted);
  return { idPrefix: 'rerank', texts: pairs, respond: (tokens) => ({ results, usage: usage(tokens) }) };
}

/** Hugging Face's TEI. */
function readTeiRerank(request: JsonObject): PoolingRequest {
  const pairs = readPairs(request, 'query', 'texts');
  const scores = pairs.map((pair, index) => ({ index, score: relevance(pair) })).sort((a, b) => b.score - a.score);
  return { idPrefix: 'rerank', texts: pairs, respond: () => scores };
}

/** NVIDIA's NIM. */
function readNimRanking({ query, passages }: JsonObject): PoolingRequest {
  const texts = (Array.isArray(passages) ? (passages as unknown[]) : []).map(textOf);
  const pairs = readPairs({ query: textOf(query), passages: texts }, 'query', 'passages');
  const rankings = pairs.map((pair, index) => ({ index, logit: relevance(pair) })).sort((a, b) => b.logit - a.logit);
  return { idPrefix: 'ranking', texts: pairs, respond: (tokens) => ({ rankings, usage: usage(tokens) }) };
}

const textOf = (value: unknown): unknown => (isObject(value) ? value['text'] : undefined);

/** Each document with the query before it. */
function readPairs(request: JsonObject, query: string, documents: string): readonly string[] {
  const [first = ''] = readTexts(request, query);
  return readTexts(request, documents).map((document) => `${first} ${document}`);
}

function list(tokens: readonly number[], entry: (tokens: number, index: number) => JsonObject): JsonObject {
  return { object: 'list', created: Math.floor(Date.now() / 1000), data: tokens.map(entry), usage: usage(tokens) };
}

function usage(tokens: readonly number[]): JsonObject {
  const total = tokens.reduce((sum, each) => sum + each, 0);
  return { prompt_tokens: total, total_tokens: total, completion_tokens: 0, prompt_tokens_details: null };
}

/** A vector of length 1: the same for texts of the same length. It means nothing. */
function vector(seed: number, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, i) => Math.sin(seed + i + 1));
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}

/** From 0 to 1: the same for the same pair. It means nothing. */
const relevance = (pair: string): number => ([...pair].reduce((sum, each) => sum + each.charCodeAt(0), 0) % 997) / 997;

function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}

/** Sends the response when the engine has computed all texts of a request. */
class PooledReply {
  readonly #response: ServerResponse;
  readonly #answer: string;
  readonly #ended: () => void;
  readonly #parts: ReplyParts[] = [];
  #left: number;
  #isSent = false;

  constructor(response: ServerResponse, texts: number, answer: string, ended: () => void) {
    this.#response = response;
    this.#left = texts;
    this.#answer = answer;
    this.#ended = ended;
  }

  /** The reply to one of the texts. */
  of(parts: ReplyParts): Reply {
    this.#parts.push(parts);
    return {
      token: () => {
        throw new Error('a text that is only read has no tokens');
      },
      finished: (_event: FinishedEvent) => {
        parts.truth.outcome = 'finished';
        this.#left--;
      },
      flush: () => {
        if (this.#left === 0) this.#send(200, this.#answer);
      },
      failed: () => {
        parts.truth.outcome = 'aborted';
        this.#send(500, new ApiError(500, 'InternalServerError', 'Internal server error').body());
      },
    };
  }

  /** A text ended, or the client has gone: the request is counted once. */
  gone(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#ended();
  }

  #send(status: number, json: string): void {
    if (this.#isSent || this.#response.destroyed) return;
    sendJson(this.#response, status, json);
    this.gone();
    for (const parts of this.#parts) parts.ended();
  }
}
