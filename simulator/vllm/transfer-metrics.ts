import type { EngineEvent } from '../engine/events.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';
import type { Histogram } from '../metrics/series.ts';
import type { VllmFamilies } from './families.ts';

const BYTES_PER_SECOND = 20 * 2 ** 30;
const POST_SECONDS_PER_DESCRIPTOR = 2e-6;
/** Keys and values of each of 32 layers are regions of their own. */
const DESCRIPTORS_PER_BLOCK = 64;

/** What vLLM's NIXL connector counts, as on the prefill side of a pair: the KV of each prompt goes over, and none fails. */
export class VllmTransferMetrics {
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
