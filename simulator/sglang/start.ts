import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RequestProgress, EngineState } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { makeTextCompletions } from '../http/completions.ts';
import { completionResponses } from '../dialects/dialect.ts';
import { makeEmbeddings } from '../http/pooling.ts';
import type { RequestBackend } from '../http/engine-driver.ts';
import type { Generations } from '../http/generations.ts';
import { badRequest, isObject, parseObject, readCount, readText, sendJson } from '../http/json-body.ts';
import { makeMessages } from '../http/messages.ts';
import { readPlainPrompt } from '../http/prompt.ts';
import { StreamReply, WholeReply, type StreamTexts } from '../http/reply.ts';
import type { StartResponse } from '../http/route-server.ts';
import { SimulatorServer } from '../http/server.ts';
import type { TruthLimits } from '../http/truth-log.ts';
import { SglangProfile } from './profile.ts';
import { checkWorkers, type FaultPlan } from '../faults/plan.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { pagePort, sendNegotiatedPage } from '../http/site.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { GatewayServer } from './gateway/gateway-server.ts';

/**
 * SGLang: engines on ports of their own, and before them a gateway whose metrics have a port too. A single engine stands
 * alone, on the port that was requested.
 */
export async function startSglang(options: StartOptions): Promise<StartedSystem> {
  const { host, port: wanted, model, parameters, workers, faults } = options;
  checkWorkers(faults, workers);
  const engines = Array.from({ length: workers }, (_, worker) => {
    const own = { ...options, parameters: { ...parameters, seed: parameters.seed + worker } };
    return new RestartingServer(() => makeEngineServer(own), faults.restart?.worker === worker ? faults.restart : null);
  });
  const ports = await Promise.all(engines.map((engine) => engine.listen(workers === 1 ? wanted : 0, host)));
  const pages = ports.map((port) => ({ port, path: '/metrics' }));
  const closeEngines = (): Promise<unknown> => Promise.all(engines.map((engine) => engine.close()));
  const [single, ...more] = pages;
  if (single !== undefined && more.length === 0) {
    return { port: single.port, pages: [single], close: async () => void (await closeEngines()) };
  }
  const workerUrls = ports.map((port) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const { blockSize, seed } = parameters;
  const gateway = new GatewayServer({ workerUrls, model, blockSize, seed, faults });
  try {
    const metrics = pagePort(29_000, options.defaultPagePorts);
    const port = await gateway.listen(wanted, metrics, host);
    return {
      port,
      pages: [{ port: metrics.port, path: '/metrics' }, ...pages],
      close: async () => {
        await gateway.close();
        await closeEngines();
      },
    };
  } catch (error) {
    await gateway.close();
    await closeEngines();
    throw error;
  }
}

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
function makeGenerate(generations: Generations, { blockSize }: EngineParameters): StartResponse {
  return (body, response, ended) => {
    const request = parseObject(body);
    const { stream, sampling_params: sampling = {}, rid } = request;
    if (!isObject(sampling)) throw badRequest('`sampling_params` must be an object.');
    // The client's own id, if it gives one.
    const id = typeof rid === 'string' ? rid : randomUUID().replaceAll('-', '');
    generations.start({
      // The client may give one id twice; the engine must not see it twice.
      id: randomUUID(),
      prompt: readPlainPrompt(readText(request, 'text'), blockSize),
      maxTokens: readCount(sampling, 'max_new_tokens') ?? DEFAULT_MAX_NEW_TOKENS,
      streaming: stream === true,
      response,
      ended,
      makeReply: (parts) => {
        if (stream !== true) {
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

/** OpenAI's limit is the context; SGLang's native API has this one. */
const DEFAULT_MAX_NEW_TOKENS = 128;

/** What differs from the simulator's defaults: a host tier and a storage backend below the device. */
export const SGLANG_PARAMETERS: Partial<EngineParameters> = {
  offloadTiers: [
    { name: 'host', blocks: 24_576, loadMillisecondsPerBlock: 0.1 },
    { name: 'storage', blocks: 98_304, loadMillisecondsPerBlock: 1 },
  ],
};

/** Of the release whose families these are. */
const VERSION = '0.5.6';

const COMPLETIONS = completionResponses(['matched_stop'], ['matched_stop']);

interface EngineServerOptions {
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly faults: FaultPlan;
  readonly truthLimits?: TruthLimits;
}

/** One SGLang engine: the OpenAI API, the native one, and the page. */
export function makeEngineServer(options: EngineServerOptions): SimulatorServer {
  const { model, parameters } = options;
  const profile = new SglangProfile({ modelName: model, parameters });
  return new SimulatorServer({
    ...options,
    profile,
    makeRoutes: ({ api, generations, backend, responding, counted }) => ({
      'GET /metrics': (request, response) =>
        sendNegotiatedPage(request, response, profile.metricsPage(backend.state())),
      'POST /v1/completions': responding('/v1/completions', makeTextCompletions(api, COMPLETIONS)),
      // Of one that serves an embedding model; here both are there.
      'POST /v1/messages': responding('/v1/messages', makeMessages(api)),
      'POST /v1/embeddings': responding('/v1/embeddings', makeEmbeddings(api)),
      'POST /generate': responding('/generate', makeGenerate(generations, parameters)),
      'GET /get_model_info': counted('/get_model_info', (response) => sendJson(response, 200, modelInfo(model))),
      'GET /get_server_info': counted('/get_server_info', (response) =>
        sendJson(response, 200, serverInfo(model, parameters)),
      ),
      'POST /flush_cache': counted('/flush_cache', (response) => flushCache(backend, response)),
      'GET /v1/loads': counted('/v1/loads', (response) => sendJson(response, 200, loads(backend.state(), parameters))),
    }),
  });
}

/** As SGLang: 400 while requests are running or waiting. */
function flushCache(backend: RequestBackend, response: ServerResponse): void {
  const flushed = backend.resetPrefixCache?.() === true;
  const text = flushed
    ? 'Cache flushed.\nPlease check backend logs for more details. (When there are running or waiting requests, the operation will not be performed.)\n'
    : 'Flush cache failed.\n';
  response.writeHead(flushed ? 200 : 400, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

/** A part of the options that SGLang reports, its API key among them, as given on its command line. */
function serverInfo(model: string, { blockSize, numKvBlocks, maxModelLen, maxNumSeqs }: EngineParameters): string {
  return JSON.stringify({
    ...{ model_path: model, tokenizer_path: model, host: '127.0.0.1', api_key: null, dtype: 'auto' },
    ...{ quantization: null, kv_cache_dtype: 'auto', context_length: maxModelLen, mem_fraction_static: 0.88 },
    ...{ max_running_requests: maxNumSeqs, schedule_policy: 'fcfs', page_size: blockSize },
    ...{ tp_size: 1, pp_size: 1, dp_size: 1, ep_size: 1, attention_backend: 'fa3', sampling_backend: 'flashinfer' },
    ...{ disable_radix_cache: false, disable_cuda_graph: false, enable_hierarchical_cache: true },
    ...{ speculative_algorithm: null, disaggregation_mode: 'null', served_model_name: model },
    max_total_num_tokens: numKvBlocks * blockSize,
    version: VERSION,
  });
}

function modelInfo(model: string): string {
  return JSON.stringify({
    model_path: model,
    tokenizer_path: model,
    is_generation: true,
    preferred_sampling_params: null,
    weight_version: 'default',
  });
}

/** What a gateway asks for to balance load. */
function loads({ running, waiting, usedKvBlocks, numKvBlocks }: EngineState, { blockSize }: EngineParameters): string {
  const load = {
    dp_rank: 0,
    num_running_reqs: running,
    num_waiting_reqs: waiting,
    num_used_tokens: usedKvBlocks * blockSize,
    max_total_num_tokens: numKvBlocks * blockSize,
    token_usage: usedKvBlocks / numKvBlocks,
  };
  return JSON.stringify({ timestamp: new Date().toISOString(), dp_rank_count: 1, loads: [load] });
}
