import type { SettingValue, ServerFacts } from '../../core/run/provenance.ts';
import { wholeResponse } from '../load/responses/whole-reader.ts';
import type { Transport } from '../load/transports/transport.ts';
import { withoutSecrets } from '../../core/run/secret-fields.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';
import { ScalarSeries } from '../servers/series/series.ts';
import type { TargetStore } from '../servers/series/target-store.ts';

/** What Python prints for a value that is not set. */
const NOT_SET: ReadonlySet<string> = new Set(['None', 'null', '']);

/**
 * The named members of a server's response. Servers report all of their options, keys included: what is not in the list
 * is never read.
 */
function listedSettings(
  response: unknown,
  names: readonly string[],
  secrets: readonly string[],
): Record<string, SettingValue> {
  if (typeof response !== 'object' || response === null) return {};
  const found = names.flatMap((name) => {
    const value = Object.hasOwn(response, name)
      ? settingOf((response as Record<string, unknown>)[name], secrets)
      : null;
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function settingOf(value: unknown, secrets: readonly string[]): SettingValue | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const text = factText(value, secrets);
  return text === null || NOT_SET.has(text) ? null : text;
}

/** Labels of the families by which engines report their configuration. */
const INFO_LABELS: Readonly<Record<string, readonly string[]>> = {
  'vllm:cache_config_info': [
    ...['block_size', 'cache_dtype', 'enable_prefix_caching', 'gpu_memory_utilization', 'kv_cache_size_tokens'],
    ...['kv_offloading_backend', 'kv_offloading_size', 'num_cpu_blocks', 'num_gpu_blocks', 'num_gpu_blocks_override'],
    ...['prefix_caching_hash_algo', 'sliding_window'],
  ],
  trtllm_model_config_info: ['dtype', 'quantization', 'max_model_len', 'gpu_type'],
  trtllm_parallel_config_info: [
    ...['tensor_parallel_size', 'pipeline_parallel_size', 'context_parallel_size', 'expert_parallel_size', 'gpu_count'],
  ],
  trtllm_speculative_config_info: ['spec_enabled', 'spec_method', 'spec_num_tokens'],
  trtllm_kv_cache_config_info: [
    ...['page_size', 'enable_block_reuse', 'enable_partial_reuse', 'free_gpu_memory_fraction', 'cache_dtype'],
  ],
};

/** What the engines' pages report; values that differ between engines are listed. */
export function pageSettings(
  series: readonly InfoSeries[],
  secrets: readonly string[],
): Readonly<Record<string, SettingValue>> {
  const values = new Map<string, Set<string>>();
  for (const { family, labels } of series) {
    const names = Object.hasOwn(INFO_LABELS, family) ? (INFO_LABELS[family] ?? []) : [];
    for (const [name, value] of Object.entries(listedSettings(labels, names, secrets)))
      values.set(name, (values.get(name) ?? new Set()).add(String(value)));
  }
  return Object.fromEntries([...values].map(([name, texts]) => [name, factText([...texts].join(' | ')) ?? '']));
}

/** The JSON at a path of the server; null: there is none. Never throws. */
type AskServer = (path: string) => Promise<unknown>;

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

const TIMEOUT_SECONDS = 2;
/** A round-robin may have hundreds of servers: the first ones represent them. */
const MAX_SERVERS = 16;

/** What is needed to ask the benchmarked servers about themselves. */
export interface AskedServers {
  readonly system: string | null;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `proxy`: its name; absent: none. */
  readonly servers: readonly { readonly origin: string; readonly transport: Transport; readonly proxy?: string }[];
  readonly series: readonly InfoSeries[];
  /** Texts that nothing stored may contain. */
  readonly secrets: readonly string[];
}

/** Version and settings of each server, as far as it reports them. Never throws. */
export async function readServers(asked: AskedServers): Promise<readonly ServerFacts[]> {
  const { system, model, headers, servers, series, secrets } = asked;
  const read = system !== null && Object.hasOwn(SERVER_READERS, system) ? SERVER_READERS[system] : undefined;
  return Promise.all(
    servers.slice(0, MAX_SERVERS).map(async ({ origin, transport, proxy }) => {
      const own = await read?.({ ask: askBy(transport, headers), model, secrets });
      // With several servers a page cannot be assigned to one of them.
      const pages = servers.length === 1 ? pageSettings(series, secrets) : {};
      return {
        ...{ origin, system, version: own?.version ?? null, settings: { ...own?.settings, ...pages } },
        ...(proxy === undefined ? {} : { proxy }),
      };
    }),
  );
}

function askBy(transport: Transport, headers: Readonly<Record<string, string>>): AskServer {
  return async (path) => {
    try {
      const request = { method: 'GET' as const, path, headers, body: null };
      const { status, body } = await wholeResponse(transport, request, TIMEOUT_SECONDS);
      return status === 200 ? (JSON.parse(body) as unknown) : null;
    } catch {
      // A server that does not answer this can be measured all the same.
      return null;
    }
  };
}

/** The version of the benchmarked servers; several different ones are listed. Null: none was reported. */
export function serverVersion(servers: readonly ServerFacts[]): string | null {
  const versions = [...new Set(servers.flatMap(({ version }) => (version === null ? [] : [version])))];
  return versions.length === 0 ? null : versions.slice(0, 3).join(', ');
}

/**
 * A text as it may be stored: one line of at most 200 characters without credentials, user info and queries of URLs.
 * Null: empty.
 */
export function factText(text: unknown, secrets: readonly string[] = []): string | null {
  if (typeof text !== 'string') return null;
  const shown = withoutSecrets(messageExcerpt(text, secrets));
  return shown === '' ? null : shown;
}

/** A version as programs write it: `0.11.1rc2+cu129`. Null: something else. */
export function versionText(version: unknown): string | null {
  return typeof version === 'string' && /^[0-9A-Za-z][\w.+~!-]{0,63}$/.test(version) ? version : null;
}

/** A sample that describes a server, rather than its load. */
export interface InfoSeries {
  readonly target: string;
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Families of a configuration and of GPUs on the newest good page of a target. */
const DESCRIBES = /_info$|^DCGM_FI_|^gpu_(average_)?package_power$/;

export function infoSeries(target: string, store: TargetStore): readonly InfoSeries[] {
  const scrape = store.lastOkAt(Infinity);
  if (scrape < 0) return [];
  return store.series.flatMap((series) => {
    if (!(series instanceof ScalarSeries) || !DESCRIBES.test(series.family.name)) return [];
    const change = series.changeAt(scrape);
    if (change < 0 || series.isAbsent(change)) return [];
    return [{ target, family: series.family.name, labels: series.labels, value: series.value(change) }];
  });
}
