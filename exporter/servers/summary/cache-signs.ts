import { quantity, significant, things } from '../../../core/text/quantities.ts';
import type { CollectedTarget, Collection } from '../collection.ts';
import { counterGain } from '../series/cumulative-window.ts';
import { ScalarSeries, type Series } from '../series/series.ts';
import { cacheShare } from './request-counts.ts';
import type { TargetStore } from '../series/target-store.ts';
import type { SpeculationResult } from '../../../core/run/result.ts';
import { gained, gainedBy, systemsOf } from './gained-quantities.ts';

/** What counts that a prefix cache gave up text for other text. */
const EVICTIONS: readonly (readonly [family: string, what: string])[] = [
  ['sglang:evicted_tokens_total', 'tokens'],
  ['kvbm_evictions_total', 'blocks'],
  ['lmcache:local_cpu_evict_keys_count_total', 'keys'],
  ['dynamo_component_router_approximate_lru_evicted_blocks_total', 'blocks'],
];

/** Its labels are the configuration of the cache. */
const VLLM_CACHE = 'vllm:cache_config_info';
const VLLM_PROMPT_TOKENS = 'vllm:prompt_tokens_total';
const VLLM_CACHED_TOKENS = 'vllm:prompt_tokens_cached_total';
const VLLM_OUTPUT_TOKENS = 'vllm:generation_tokens_total';
const VLLM_PREEMPTIONS = 'vllm:num_preemptions_total';

/** Dynamo's KV router, at each choice: cached tokens of the prompt on the worker that has most, and on the chosen one. */
const ROUTER_BEST = 'dynamo_component_router_kv_best_eligible_cached_prefix_tokens_total';
const ROUTER_CHOSEN = 'dynamo_component_router_kv_selected_cached_prefix_tokens_total';

/** Shares of workers that differ by less than this are alike. */
const SPREAD = 0.1;

/**
 * What the servers say of why their prefix caches may have served less than possible, one line each: the cache is off, it
 * evicted, or the workers' shares differ because requests with the same prefix went to several. Empty: they say nothing.
 */
export function cacheSigns(collection: Collection): readonly string[] {
  const { targets } = collection;
  return [
    ...targets.flatMap(cacheOff),
    ...evictions(targets),
    ...targets.flatMap(overCapacity),
    ...workers(collection),
    ...routed(targets),
  ];
}

function cacheOff({ name, store }: CollectedTarget): readonly string[] {
  const isOff = store.series.some(
    ({ family, labels }) => family.name === VLLM_CACHE && labels['enable_prefix_caching'] === 'False',
  );
  return isOff ? [`prefix caching is off at ${name} (enable_prefix_caching)`] : [];
}

function evictions(targets: readonly CollectedTarget[]): readonly string[] {
  const lines = EVICTIONS.flatMap(([family, what]) => {
    const gain = sum(targets.map((target) => gainOf(target, family)));
    return gain === null || gain === 0 ? [] : [`${significant(gain)} ${what} were evicted (${family})`];
  });
  const preempted = sum(targets.map((target) => gainOf(target, VLLM_PREEMPTIONS)));
  if (preempted === null || preempted === 0) return lines;
  return [...lines, `${things(preempted, 'preemptions')} for lack of cache (${VLLM_PREEMPTIONS})`];
}

/** vLLM counts no evictions: it must have evicted when it computed more tokens than its cache holds. */
function overCapacity(target: CollectedTarget): readonly string[] {
  const capacity = sum(
    target.store.series.flatMap(({ family, labels }) =>
      family.name === VLLM_CACHE ? [Number(labels['num_gpu_blocks']) * Number(labels['block_size'])] : [],
    ),
  );
  const prompt = gainOf(target, VLLM_PROMPT_TOKENS);
  const cached = gainOf(target, VLLM_CACHED_TOKENS);
  if (capacity === null || !(capacity > 0) || prompt === null || cached === null) return [];
  const computed = prompt - cached + (gainOf(target, VLLM_OUTPUT_TOKENS) ?? 0);
  if (computed <= capacity) return [];
  const [held, made] = [significant(capacity), significant(computed)];
  return [`the cache of ${target.name} holds ${held} tokens and ${made} were computed: it had to evict`];
}

/** What of the prompts the router found cached: what it chose is served, and what no worker held could not be. */
function routed(targets: readonly CollectedTarget[]): readonly string[] {
  const [best, chosen] = [ROUTER_BEST, ROUTER_CHOSEN].map((name) => sum(targets.map((target) => gainOf(target, name))));
  if (best == null || chosen == null || best === 0) return [];
  const [of, was] = [significant(best), significant(chosen)];
  return [
    `the router chose workers that held ${was} of the ${of} prompt tokens that the best worker for each request held; the others were on no worker (${ROUTER_CHOSEN})`,
  ];
}

/** The shares of the workers, when there are several that count. */
function workers(collection: Collection): readonly string[] {
  const shares = collection.targets.flatMap((target) => cacheShare({ ...collection, targets: [target] }) ?? []);
  if (shares.length < 2) return [];
  const [low, high] = [Math.min(...shares), Math.max(...shares)];
  const range = `${quantity(low, 'ratio')} to ${quantity(high, 'ratio')}`;
  const alike = `hits of the ${shares.length} workers ${range}: each of them computed the prefixes that reached it`;
  return [high - low < SPREAD ? alike : `${alike}, and they were not routed alike`];
}

/** Null: the target does not count it. */
function gainOf({ store, window }: CollectedTarget, name: string): number | null {
  return sum(
    store.series.flatMap((series) =>
      series instanceof ScalarSeries && series.family.name === name
        ? (counterGain(series, store, window.range)?.increase ?? [])
        : [],
    ),
  );
}

/** Null when none of them is known. */
function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

/** Labels of the families that describe an engine's cache, which are its tokens of a block. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ['vllm:cache_config_info', 'block_size'],
  ['trtllm_kv_cache_config_info', 'page_size'],
]);
/** Gauges; Dynamo's is of the frontend, from what its workers registered. */
const GAUGES: ReadonlySet<string> = new Set(['dynamo_frontend_model_kv_cache_block_size', 'sglang:page_size']);

/** The largest block of the servers' prefix caches, in tokens; null when none reports one. */
export function cacheBlockTokens(stores: readonly TargetStore[]): number | null {
  const sizes = stores.flatMap(({ series }) => series.map(blockTokens)).filter((size) => size > 0);
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** NaN: the series does not report it. */
function blockTokens(series: Series): number {
  const { family, labels } = series;
  if (GAUGES.has(family.name) && series instanceof ScalarSeries) return series.value(series.changes - 1);
  return Number(labels[LABELS.get(family.name) ?? '']);
}

/** The catalog's quantities of what was proposed and accepted. */
const [DRAFTS, DRAFT_TOKENS, ACCEPTED] = ['drafts_total', 'draft_tokens_total', 'accepted_draft_tokens_total'] as const;

/** Families of accepted tokens by position, and the label that is the position, from "0". */
const BY_POSITION: ReadonlyMap<string, readonly [family: string, label: string]> = new Map([
  ['vllm', ['vllm:spec_decode_num_accepted_tokens_per_pos_total', 'position']],
  ['trtllm', ['trtllm_spec_decode_accepted_tokens_total', 'token_position']],
]);

const MAX_POSITIONS = 1024;

/** What the counters of speculative decoding gained in the window, of all replicas together. Null: no system counts it. */
export function speculationCounts(collection: Collection): SpeculationResult | null {
  for (const system of systemsOf(DRAFTS)) {
    const count = (quantity: string): number | null => gained(collection, quantity, system);
    const [drafts, draft_tokens, accepted] = [count(DRAFTS), count(DRAFT_TOKENS), count(ACCEPTED)];
    // TensorRT-LLM has no series of a position at which nothing was accepted yet.
    const accepted_tokens = accepted ?? (system === 'trtllm' ? 0 : null);
    if (drafts === null || draft_tokens === null || accepted_tokens === null) continue;
    return { drafts, draft_tokens, accepted_tokens, accepted_by_position: byPosition(collection, system) };
  }
  return null;
}

function byPosition(collection: Collection, system: string): number[] | null {
  const [family, label] = BY_POSITION.get(system) ?? [];
  if (family === undefined || label === undefined) return null;
  const gains = gainedBy(collection, family, label);
  const last = Math.max(...[...gains.keys()].map(Number));
  // What comes from a server may be any text; no drafter proposes more.
  if (!(last >= 0 && last < MAX_POSITIONS)) return null;
  return Array.from({ length: last + 1 }, (_, position) => gains.get(`${position}`) ?? 0);
}

const SGLANG_VERIFIED = 'sglang:spec_verify_calls_total';

/** A line when servers decode speculatively and count no accepted tokens, so that the run has no measure of it. */
export function acceptanceUnknown(collection: Collection): readonly string[] {
  const verified = gainedBy(collection, SGLANG_VERIFIED, '').get('') ?? 0;
  return verified > 0
    ? [
        'servers: SGLang counts verifications and no accepted draft tokens, and its gauges (sglang:spec_accept_length) are of the last report only: acceptance is not measured',
      ]
    : [];
}
