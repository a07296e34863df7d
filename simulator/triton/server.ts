import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EngineParameters } from '../engine/parameters.ts';
import type { ServerFaults } from '../faults/plan.ts';
import type { Reply, MonotonicClock } from '../http/engine-driver.ts';
import { Generations, type ReplyParts } from '../http/generations.ts';
import {
  ApiError,
  badRequest,
  isObject,
  type JsonObject,
  parseObject,
  sendJson,
  sendTruth,
  MAX_BODY_BYTES,
  readBody,
} from '../http/json-body.ts';
import { readPlainPrompt } from '../http/prompt.ts';
import { StreamReply, WholeReply, type StreamTexts } from '../http/reply.ts';
import { RouteServer, type RouteHandler } from '../http/route-server.ts';
import type { TruthLog } from '../http/truth-log.ts';
import type { MetricsPage } from '../metrics/page.ts';
import type { TritonModel } from './model.ts';

const CAPACITY_BYTES = 64 * 2 ** 20;
/** What an entry takes besides key and answer. */
const ENTRY_OVERHEAD_BYTES = 256;
const LOOKUP_US = 40;
const INSERTION_US = 60;

/** Triton's local response cache, with the gauges that it keeps of itself; the oldest entry goes first. */
export class ResponseCache {
  readonly #responses = new Map<string, string>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;
  #insertions = 0;

  /** The response to the same request before, or undefined. */
  lookUp(request: string): string | undefined {
    const response = this.#responses.get(request);
    if (response === undefined) this.#misses++;
    else this.#hits++;
    return response;
  }

  insert(request: string, response: string): void {
    if (this.#responses.has(request)) return;
    this.#responses.set(request, response);
    this.#bytes += sizeOf(request, response);
    this.#insertions++;
    for (const [oldest, dropped] of this.#responses) {
      if (this.#bytes <= CAPACITY_BYTES) break;
      this.#responses.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
      this.#evictions++;
    }
  }

  update(page: MetricsPage): void {
    const lookups = this.#hits + this.#misses;
    const values = {
      nv_cache_util: this.#bytes / CAPACITY_BYTES,
      nv_cache_num_entries: this.#responses.size,
      nv_cache_num_hits: this.#hits,
      nv_cache_num_misses: this.#misses,
      nv_cache_num_lookups: lookups,
      nv_cache_num_evictions: this.#evictions,
      nv_cache_lookup_duration: lookups * LOOKUP_US,
      nv_cache_insertion_duration: this.#insertions * INSERTION_US,
    };
    for (const [name, value] of Object.entries(values)) page.scalar(name).value = value;
  }
}

function sizeOf(request: string, response: string): number {
  return request.length + response.length + ENTRY_OVERHEAD_BYTES;
}

/** Requests that a model's queue takes; more are rejected. */
const MAX_QUEUE_SIZE = 4096;
const SECONDS_PER_NANOSECOND = 1e-9;

export interface ServedModel {
  readonly name: string;
  readonly model: TritonModel;
  /** Null: its responses are not cached. */
  readonly cache: ResponseCache | null;
}

interface TritonServerOptions {
  readonly models: readonly ServedModel[];
  readonly parameters: EngineParameters;
  readonly clock: MonotonicClock;
  readonly truth: TruthLog;
  readonly faults: ServerFaults;
}

type Send = (response: ServerResponse, status: number, message: string) => void;

const sendError: Send = (response, status, message) => sendJson(response, status, errorResponse(message));

/** The stream has been opened: whatever goes wrong now is an event of it. */
const sendErrorEvent: Send = (response, _status, message) => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.end(`data: ${errorResponse(message)}\n\n`);
};

/** Triton's HTTP port: health, inference and the generate extension of each model. Metrics are on another port. */
export function tritonServer(options: TritonServerOptions): RouteServer {
  const { models, clock, truth, faults } = options;
  const seconds = (): number => clock.now_ns() * SECONDS_PER_NANOSECOND;
  const ready: RouteHandler = (_request, response) => {
    response.writeHead(faults.isStarting(seconds()) ? 400 : 200, { 'content-length': 0 }).end();
  };
  const routes = new Map<string, RouteHandler>([
    ['GET /v2/health/ready', ready],
    ['GET /v2/health/live', (_request, response) => void response.writeHead(200, { 'content-length': 0 }).end()],
    ['GET /v2', (_request, response) => sendJson(response, 200, SERVER_METADATA)],
    ['GET /truth', (_request, response, query) => sendTruth(response, truth.json(clock, query.get('id')))],
  ]);
  for (const served of models) {
    const endpoint = new GenerateEndpoint(served, options);
    const path = `/v2/models/${served.name}`;
    routes.set(`GET ${path}`, (_request, response) => sendJson(response, 200, modelMetadata(served.name)));
    routes.set(`GET ${path}/config`, (_request, response) => sendJson(response, 200, modelConfig(served.name)));
    routes.set(`GET ${path}/ready`, ready);
    for (const base of [path, `${path}/versions/1`]) {
      routes.set(`POST ${base}/infer`, (request, response) => endpoint.infer(request, response));
      routes.set(`POST ${base}/generate`, (request, response) => endpoint.generate(request, response));
      // Cached models are not decoupled: they have one response, and no stream.
      if (served.cache !== null) continue;
      routes.set(`POST ${base}/generate_stream`, (request, response) => endpoint.generateStream(request, response));
    }
  }
  return new RouteServer({
    routes,
    notFound: (request, response) => {
      const name = /^\/v2\/models\/([^/]+)/.exec(request.url ?? '')?.[1];
      if (name === undefined) sendError(response, 404, 'Not Found');
      else sendError(response, 400, `Request for unknown model: '${name}' is not found`);
    },
    failed: (error, response) => sendError(response, 500, error instanceof Error ? error.message : String(error)),
  });
}

const SERVER_METADATA = JSON.stringify({ name: 'triton', version: '2.51.0', extensions: ['generate', 'statistics'] });

function modelMetadata(name: string): string {
  return JSON.stringify({
    name,
    versions: ['1'],
    platform: 'ensemble',
    inputs: [
      { name: 'text_input', datatype: 'BYTES', shape: [1] },
      { name: 'max_tokens', datatype: 'INT32', shape: [1] },
    ],
    outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [-1] }],
  });
}

function modelConfig(name: string): string {
  return JSON.stringify({
    ...{ name, platform: 'ensemble', backend: '', max_batch_size: 256 },
    ...{ input: [], output: [], instance_group: [], default_model_filename: '', parameters: {} },
  });
}

/** `infer`, `generate` and `generate_stream` of one model. */
class GenerateEndpoint {
  readonly #served: ServedModel;
  readonly #options: TritonServerOptions;
  readonly #generations: Generations;

  constructor(served: ServedModel, options: TritonServerOptions) {
    this.#served = served;
    this.#options = options;
    this.#generations = new Generations({ ...options, backend: served.model.driver });
  }

  async generateStream(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name } = this.#served;
    await this.#answer({ request, response, streaming: true, protocol: GENERATE }, (parts) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.flushHeaders();
      return new StreamReply({ ...parts, texts: new TritonStreamTexts(name), includeUsage: false });
    });
  }

  generate(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#answerWhole(request, response, GENERATE);
  }

  infer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#answerWhole(request, response, INFER);
  }

  async #answerWhole(request: IncomingMessage, response: ServerResponse, protocol: Protocol): Promise<void> {
    const { name, model, cache } = this.#served;
    await this.#answer({ request, response, streaming: false, protocol }, (parts, body) => {
      if (cache !== null) model.cacheMiss();
      const answer = (content: string): string => {
        const json = protocol.write(name, content);
        cache?.insert(body, json);
        return json;
      };
      return new WholeReply({ ...parts, answer });
    });
  }

  async #answer(exchange: Exchange, makeReply: (parts: ReplyParts, body: string) => Reply): Promise<void> {
    const { request, response, protocol } = exchange;
    const { model, cache } = this.#served;
    try {
      const body = await readBody(request, MAX_BODY_BYTES);
      if (response.destroyed) return;
      const generate = protocol.read(body);
      const cached = cache?.lookUp(body);
      if (cached === undefined) this.#start(exchange, generate, (parts) => makeReply(parts, body));
      else {
        model.cacheHit();
        sendJson(response, 200, cached);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      sendError(response, error.status, error.message);
    }
  }

  #start({ response, streaming }: Exchange, request: GenerateRequest, makeReply: (parts: ReplyParts) => Reply): void {
    const { model } = this.#served;
    const sendModelError = streaming ? sendErrorEvent : sendError;
    if (this.#isRejected()) {
      model.rejected();
      sendModelError(response, 503, 'Exceeds maximum queue size');
      return;
    }
    const prompt = readPlainPrompt(request.text, this.#options.parameters.blockSize);
    const { maxTokens } = request;
    const ended = (): void => undefined;
    try {
      this.#generations.start({ id: randomUUID(), prompt, maxTokens, streaming, response, ended, makeReply });
      model.accepted();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      model.refused();
      sendModelError(response, 500, error.message);
    }
  }

  #isRejected(): boolean {
    const { clock, faults } = this.#options;
    if (faults.refusal(clock.now_ns() * SECONDS_PER_NANOSECOND) !== null) return true;
    return this.#served.model.driver.state().waiting >= MAX_QUEUE_SIZE;
  }
}

/** A request and where its response goes. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly streaming: boolean;
  readonly protocol: Protocol;
}

/** How requests and whole responses are written. */
interface Protocol {
  /** @throws ApiError 400 for a body that is not such a request */
  readonly read: (body: string) => GenerateRequest;
  readonly write: (model: string, text: string) => string;
}

const GENERATE: Protocol = { read: readGenerateRequest, write: generateResponse };
const INFER: Protocol = { read: readInferRequest, write: inferResponse };

/** The JSON of one response of the generate extension. */
function generateResponse(model: string, text: string): string {
  return JSON.stringify({ model_name: model, model_version: '1', text_output: text });
}

function inferResponse(model: string, text: string): string {
  const output = { name: 'text_output', datatype: 'BYTES', shape: [1, 1], data: [text] };
  return JSON.stringify({ model_name: model, model_version: '1', outputs: [output] });
}

function errorResponse(message: string): string {
  return JSON.stringify({ error: message });
}

/** `generate_stream`: one event per token, no usage, and no mark at the end but the end. */
class TritonStreamTexts implements StreamTexts {
  readonly opening = '';
  readonly done = '';
  readonly #beforeText: string;

  constructor(model: string) {
    this.#beforeText = `data: ${generateResponse(model, '').slice(0, -2)}`;
  }

  token(text: string): string {
    return `${this.#beforeText}${text}"}\n\n`;
  }

  lastToken(text: string): string {
    return this.token(text);
  }

  usage(): string {
    return '';
  }
}

/** A request of the generate extension. */
interface GenerateRequest {
  readonly text: string;
  readonly maxTokens: number | null;
}

/** Reads the body of `generate` and `generate_stream`. */
function readGenerateRequest(body: string): GenerateRequest {
  return limited(parseObject(body, 'failed to parse the request JSON buffer'));
}

/** Reads the body of `infer`: each input is a tensor of one value. */
function readInferRequest(body: string): GenerateRequest {
  const { inputs } = parseObject(body, 'failed to parse the request JSON buffer');
  const tensors = (Array.isArray(inputs) ? (inputs as unknown[]) : []).filter(isObject);
  if (tensors.length === 0) throw badRequest('expected inputs');
  const valueOf = (data: unknown): unknown => (Array.isArray(data) ? valueOf(data[0]) : data);
  return limited(Object.fromEntries(tensors.map(({ name, data }) => [String(name), valueOf(data)])));
}

/** The limit of tokens is an input of its own (TensorRT-LLM) or a parameter (vLLM). */
function limited(request: JsonObject): GenerateRequest {
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
