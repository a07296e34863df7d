import type { SettingValue } from '../../core/run/provenance.ts';
import { versionText } from './fact-text.ts';
import { listedSettings } from './settings.ts';

/** The JSON at a path of the server; null: there is none. Never throws. */
export type AskServer = (path: string) => Promise<unknown>;

export interface ReadServer {
  readonly version: string | null;
  readonly settings: Readonly<Record<string, SettingValue>>;
}

interface Asked {
  readonly ask: AskServer;
  readonly model: string;
  /** Texts that nothing stored may contain. */
  readonly secrets: readonly string[];
}

/** Reads version and settings of one server of a system. */
type ServerReader = (asked: Asked) => Promise<ReadServer>;

/** By the system's catalog. */
export const SERVER_READERS: Readonly<Record<string, ServerReader>> = {
  vllm: versionOnly,
  trtllm: versionOnly,
  sglang: readSglang,
  smg: readGateway,
  'sgl-router': readGateway,
  triton: readTriton,
  dynamo: readDynamo,
  tgi: readTgi,
};

const SGLANG_SETTINGS = [
  ...['model_path', 'dtype', 'quantization', 'kv_cache_dtype', 'context_length', 'mem_fraction_static', 'page_size'],
  ...['max_running_requests', 'max_total_num_tokens', 'chunked_prefill_size', 'max_prefill_tokens', 'schedule_policy'],
  ...['tp_size', 'pp_size', 'dp_size', 'ep_size', 'attention_backend', 'sampling_backend', 'disable_radix_cache'],
  ...['disable_cuda_graph', 'enable_mixed_chunk', 'enable_torch_compile', 'enable_hierarchical_cache'],
  ...['speculative_algorithm', 'speculative_num_steps', 'speculative_num_draft_tokens', 'disaggregation_mode'],
];
const TRITON_SETTINGS = ['platform', 'backend', 'max_batch_size', 'default_model_filename'];
const TGI_SETTINGS = [
  ...['model_dtype', 'model_sha', 'max_concurrent_requests', 'max_input_tokens', 'max_total_tokens'],
  ...['max_batch_total_tokens', 'waiting_served_ratio'],
];

async function versionOnly({ ask }: Asked): Promise<ReadServer> {
  return { version: versionText(member(await ask('/version'), 'version')), settings: {} };
}

/** Later versions have the name without `get_`. */
async function readSglang({ ask, secrets }: Asked): Promise<ReadServer> {
  const info = (await ask('/get_server_info')) ?? (await ask('/server_info'));
  return { version: versionText(member(info, 'version')), settings: listedSettings(info, SGLANG_SETTINGS, secrets) };
}

/** A gateway has no version of its own in its API: it passes the question on to one of its engines. */
async function readGateway(asked: Asked): Promise<ReadServer> {
  const [{ version, settings }, workers] = await Promise.all([readSglang(asked), asked.ask('/workers')]);
  const total = member(workers, 'total');
  return {
    version: version === null ? null : `sglang-${version}`,
    settings: { ...settings, ...(typeof total === 'number' ? { workers: total } : {}) },
  };
}

async function readTriton({ ask, model, secrets }: Asked): Promise<ReadServer> {
  const [server, config] = await Promise.all([ask('/v2'), ask(`/v2/models/${encodeURIComponent(model)}/config`)]);
  const batching = member(config, 'dynamic_batching');
  const delay = member(batching, 'max_queue_delay_microseconds');
  return {
    version: versionText(member(server, 'version')),
    settings: {
      ...listedSettings(config, TRITON_SETTINGS, secrets),
      ...(config === null ? {} : { dynamic_batching: typeof batching === 'object' && batching !== null }),
      ...(typeof delay === 'number' ? { max_queue_delay_microseconds: delay } : {}),
    },
  };
}

/** The frontend's description of its API has its version; its health lists the registered instances. */
async function readDynamo({ ask }: Asked): Promise<ReadServer> {
  const [description, health] = await Promise.all([ask('/openapi.json'), ask('/health')]);
  const instances = member(health, 'instances');
  const counts: Record<string, number> = {};
  for (const instance of Array.isArray(instances) ? instances.slice(0, MAX_INSTANCES) : []) {
    if (member(instance, 'endpoint') !== 'generate') continue;
    const component = versionText(member(instance, 'component'));
    if (component !== null) counts[`instances_${component}`] = (counts[`instances_${component}`] ?? 0) + 1;
  }
  return { version: versionText(member(member(description, 'info'), 'version')), settings: counts };
}

const MAX_INSTANCES = 10_000;

async function readTgi({ ask, secrets }: Asked): Promise<ReadServer> {
  const info = await ask('/info');
  return { version: versionText(member(info, 'version')), settings: listedSettings(info, TGI_SETTINGS, secrets) };
}

function member(object: unknown, name: string): unknown {
  const isObject = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isObject ? (object as Record<string, unknown>)[name] : null;
}
