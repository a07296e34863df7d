import type { EngineEvent } from '../engine/events.ts';
import type { EngineParameters, Speculation } from '../engine/parameters.ts';
import type { Scalar, Histogram } from '../metrics/family.ts';
import type { VllmFamilies } from './families.ts';
import { VllmOffloadMetrics } from './offload-metrics.ts';
import type { Labels } from '../metrics/family.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';

const MAX_LORA_ADAPTERS = 4;

interface SwitchMetricsOptions {
  readonly modelName: string;
  readonly parameters: EngineParameters;
  /** The present as Unix time. */
  readonly wallSeconds: () => number;
}

/**
 * The families that vLLM shows with a switch only, as a server with all of them would for this load. No real server has
 * all at once: it has one KV connector, or is one side of a prefill and decode pair.
 */
export class VllmSwitchMetrics {
  readonly #observers: readonly { observe(event: EngineEvent): void }[];
  readonly #adapters: () => Scalar;
  readonly #wallSeconds: () => number;

  constructor(families: VllmFamilies, { modelName, parameters, wallSeconds }: SwitchMetricsOptions) {
    const labels = { engine: '0', model_name: modelName };
    const { speculation, offloadTiers, blockSize } = parameters;
    this.#observers = [
      new VllmBlockLifeMetrics(families, labels),
      new VllmTransferMetrics(families, labels, blockSize),
      ...(speculation === null ? [] : [new VllmDraftMetrics(families, labels, speculation)]),
      ...(offloadTiers.length === 0 ? [] : [new VllmOffloadMetrics(families, labels, parameters)]),
    ];
    this.#wallSeconds = wallSeconds;
    // No request asks for an adapter, so none runs and none waits.
    const adapters = { max_lora: `${MAX_LORA_ADAPTERS}`, running_lora_adapters: '', waiting_lora_adapters: '' };
    this.#adapters = () => families.gauge('vllm:lora_requests_info').series(adapters);
    // No logit of the simulator is NaN.
    families.counter('vllm:corrupted_requests_total').series(labels);
  }

  observe(event: EngineEvent): void {
    for (const observer of this.#observers) observer.observe(event);
    if (event.kind === 'step') this.#adapters().value = this.#wallSeconds();
  }
}

const SECONDS_PER_NANOSECOND = 1e-9;

/** What `--kv-cache-metrics` reports of blocks whose content is given up, with `--kv-cache-metrics-sample 1`: of all. */
class VllmBlockLifeMetrics {
  readonly #lifetime: Histogram;
  readonly #idle: Histogram;
  readonly #reuseGap: Histogram;

  constructor(families: VllmFamilies, labels: Labels) {
    const histogram = (name: string): Histogram => families.histogram(`vllm:kv_block_${name}_seconds`).series(labels);
    this.#lifetime = histogram('lifetime');
    this.#idle = histogram('idle_before_evict');
    this.#reuseGap = histogram('reuse_gap');
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'kv-traffic') return;
    for (const { lifetime_ns, idle_ns, reuseGaps_ns } of event.lives) {
      this.#lifetime.observe(lifetime_ns * SECONDS_PER_NANOSECOND);
      this.#idle.observe(idle_ns * SECONDS_PER_NANOSECOND);
      for (const gap_ns of reuseGaps_ns) this.#reuseGap.observe(gap_ns * SECONDS_PER_NANOSECOND);
    }
  }
}

/** What vLLM counts of speculative decoding: each request in its decode phase has one draft per step. */
class VllmDraftMetrics {
  readonly #draftTokens: number;
  readonly #drafts: Scalar;
  readonly #drafted: Scalar;
  readonly #accepted: Scalar;
  readonly #acceptedByPosition: readonly Scalar[];

  constructor(families: VllmFamilies, labels: Labels, { draftTokens }: Speculation) {
    const counter = (name: string, own: Labels = {}): Scalar =>
      families.counter(`vllm:spec_decode_num_${name}_total`).series({ ...labels, ...own });
    this.#draftTokens = draftTokens;
    this.#drafts = counter('drafts');
    this.#drafted = counter('draft_tokens');
    this.#accepted = counter('accepted_tokens');
    this.#acceptedByPosition = Array.from({ length: draftTokens }, (_, position) =>
      counter('accepted_tokens_per_pos', { position: `${position}` }),
    );
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'step' || event.drafts === null) return;
    const { sequences, acceptedByPosition } = event.drafts;
    this.#drafts.add(sequences);
    this.#drafted.add(sequences * this.#draftTokens);
    for (const [position, tokens] of acceptedByPosition.entries()) {
      this.#accepted.add(tokens);
      this.#acceptedByPosition[position]?.add(tokens);
    }
  }
}

const BYTES_PER_SECOND = 20 * 2 ** 30;
const POST_SECONDS_PER_DESCRIPTOR = 2e-6;
/** Keys and values of each of 32 layers are regions of their own. */
const DESCRIPTORS_PER_BLOCK = 64;

/** What vLLM's NIXL connector counts, as on the prefill side of a pair: the KV of each prompt goes over, and none fails. */
class VllmTransferMetrics {
  readonly #blockSize: number;
  readonly #seconds: Histogram;
  readonly #postSeconds: Histogram;
  readonly #bytes: Histogram;
  readonly #descriptors: Histogram;

  constructor(families: VllmFamilies, labels: Labels, blockSize: number) {
    const histogram = (name: string): Histogram => families.histogram(`vllm:nixl_${name}`).series(labels);
    this.#blockSize = blockSize;
    this.#seconds = histogram('xfer_time_seconds');
    this.#postSeconds = histogram('post_time_seconds');
    this.#bytes = histogram('bytes_transferred');
    this.#descriptors = histogram('num_descriptors');
    for (const what of ['transfers', 'notifications']) {
      families.counter(`vllm:nixl_num_failed_${what}_total`).series(labels);
    }
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'token' || event.index !== 0) return;
    const blocks = Math.ceil(event.request.promptTokens / this.#blockSize);
    const bytes = blocks * this.#blockSize * KV_BYTES_PER_TOKEN;
    const descriptors = blocks * DESCRIPTORS_PER_BLOCK;
    const post_s = descriptors * POST_SECONDS_PER_DESCRIPTOR;
    this.#bytes.observe(bytes);
    this.#descriptors.observe(descriptors);
    this.#postSeconds.observe(post_s);
    this.#seconds.observe(post_s + bytes / BYTES_PER_SECOND);
  }
}
