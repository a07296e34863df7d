import type { ServerResponse } from 'node:http';
import type { EngineState } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { FaultPlan } from '../faults/plan.ts';
import type { RequestBackend } from '../http/engine-driver.ts';
import { makeEmbeddings } from '../http/embeddings.ts';
import { sendJson } from '../http/json-response.ts';
import { sendNegotiatedPage } from '../http/negotiated-page.ts';
import { SimulatorServer } from '../http/server.ts';
import { makeTextCompletions, textCompletionDialect } from '../http/text-completions.ts';
import type { TruthLimits } from '../http/truth-log.ts';
import { SglangProfile } from './profile.ts';
import { makeGenerate } from './generate.ts';

/** What differs from the simulator's defaults: a host tier and a storage backend below the device. */
export const SGLANG_PARAMETERS: Partial<EngineParameters> = {
  offloadTiers: [
    { name: 'host', blocks: 24_576, loadMillisecondsPerBlock: 0.1 },
    { name: 'storage', blocks: 98_304, loadMillisecondsPerBlock: 1 },
  ],
};

/** Of the release whose families these are. */
const VERSION = '0.5.6';

const COMPLETIONS = textCompletionDialect({ stream: ['matched_stop'], whole: ['matched_stop'] });

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
