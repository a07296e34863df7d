import type { EngineEvent, RequestProgress, StepEvent } from '../engine/events.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';
import type { SglangFamilies } from './families.ts';
import { schedulerLabels, tokenizerLabels } from './labels.ts';

const BYTES_PER_MIB = 2 ** 20;
const MIB_PER_GIB = 1024;
/** Two operations per weight and token, at 2 bytes per weight. */
const FLOPS_PER_TOKEN = MODEL_BYTES;
const LORA_SLOTS = 8;
const TRANSFER_GIB_PER_SECOND = 20;
const BOOTSTRAP_MILLISECONDS = 4;
const ALLOCATION_MILLISECONDS = 1.5;
const DEFERRED_RELEASE_SECONDS = 0.004;

/** On the page at 0: a server that has the switch shows them, and nothing that the simulator does moves them. */
const ZERO_GAUGES = [
  'lora_pool_slots_used',
  'lora_pool_utilization',
  'hicache_host_mamba_used_states',
  'hicache_host_mamba_total_states',
  'num_streaming_sessions',
  'streaming_session_held_tokens',
];
const ZERO_COUNTERS = [
  'num_bootstrap_failed_reqs_total',
  'num_transfer_failed_reqs_total',
  'num_prefill_retries_total',
];
const ZERO_TOKENIZER_COUNTERS = ['spec_verify_calls_total', 'num_so_requests_total'];

/**
 * The families that SGLang shows with a switch only, as a server with all of them would for this load. No real server
 * has all at once: prefill and decode side of a disaggregated pair, for one, are different processes.
 */
export class SglangSwitchMetrics {
  readonly #families: SglangFamilies;
  readonly #labels: Labels;

  constructor(families: SglangFamilies, modelName: string) {
    this.#families = families;
    this.#labels = schedulerLabels(modelName);
    for (const name of ZERO_GAUGES) this.#gauge(name).value = 0;
    for (const name of ZERO_COUNTERS) this.#counter(name);
    for (const name of ZERO_TOKENIZER_COUNTERS) {
      families.counter(`sglang:${name}`).series(tokenizerLabels(modelName));
    }
    this.#gauge('lora_pool_slots_total').value = LORA_SLOTS;
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'step') this.#step(event);
    else if (event.kind === 'token' && event.index === 0) this.#prefilled(event.request);
    else if (event.kind === 'finished') this.#released();
  }

  /** `/v1/loads` was answered. */
  loadsAnswered(seconds: number, modelName: string): void {
    this.#families.histogram('sglang:get_loads_duration_seconds').series(tokenizerLabels(modelName)).observe(seconds);
  }

  #step({ start_ns, time_ns, prefillTokens, decoding }: StepEvent): void {
    const tokens = prefillTokens + decoding;
    this.#counter('estimated_flops_per_gpu_total').add(tokens * FLOPS_PER_TOKEN);
    this.#counter('estimated_read_bytes_per_gpu_total').add(MODEL_BYTES + tokens * KV_BYTES_PER_TOKEN);
    this.#counter('estimated_write_bytes_per_gpu_total').add(tokens * KV_BYTES_PER_TOKEN);
    const cooperation = (labels: Labels): Labels => ({ num_prefill_ranks: prefillTokens > 0 ? '1' : '0', ...labels });
    const realtime = (mode: string, count: number): void => {
      if (count > 0) this.#counter('dp_cooperation_realtime_tokens_total', cooperation({ mode })).add(count);
    };
    realtime('prefill_compute', prefillTokens);
    realtime('decode', decoding);
    const category = prefillTokens === 0 ? 'decode' : decoding === 0 ? 'extend' : 'mixed';
    this.#counter('dp_cooperation_forward_execution_seconds_total', cooperation({ category })).add(
      (time_ns - start_ns) * 1e-9,
    );
    this.#families.histogram('sglang:eplb_gpu_physical_count').series({ layer: '0' }).observe(0);
    if (prefillTokens > 0) this.#prefillNotDelayed();
  }

  #prefillNotDelayed(): void {
    this.#histogram('prefill_delayer_wait_forward_passes').observe(0);
    this.#histogram('prefill_delayer_wait_seconds').observe(0);
    const outcome = {
      input_estimation: 'all',
      output_allow: 'true',
      output_reason: 'no_wait',
      actual_execution: 'true',
    };
    this.#counter('prefill_delayer_outcomes_total', outcome).add(1);
  }

  #prefilled({ promptTokens }: RequestProgress): void {
    const mebibytes = (promptTokens * KV_BYTES_PER_TOKEN) / BYTES_PER_MIB;
    const seconds = mebibytes / MIB_PER_GIB / TRANSFER_GIB_PER_SECOND;
    this.#histogram('kv_transfer_total_mb').observe(mebibytes);
    this.#histogram('kv_transfer_speed_gb_s').observe(TRANSFER_GIB_PER_SECOND);
    this.#histogram('kv_transfer_latency_ms').observe(seconds * 1000);
    this.#histogram('kv_transfer_bootstrap_ms').observe(BOOTSTRAP_MILLISECONDS);
    this.#histogram('kv_transfer_alloc_ms').observe(ALLOCATION_MILLISECONDS);
    this.#counter('num_decode_host_receive_reqs_total').add(1);
  }

  #released(): void {
    this.#counter('decode_deferred_kv_release_total', { outcome: 'drained' }).add(1);
    this.#histogram('decode_deferred_kv_release_seconds').observe(DEFERRED_RELEASE_SECONDS);
  }

  #gauge(name: string) {
    return this.#families.gauge(`sglang:${name}`).series(this.#labels);
  }

  #counter(name: string, labels: Labels = {}) {
    return this.#families.counter(`sglang:${name}`).series({ ...this.#labels, ...labels });
  }

  #histogram(name: string) {
    return this.#families.histogram(`sglang:${name}`).series(this.#labels);
  }
}
