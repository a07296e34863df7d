import { loadCatalog } from '../../catalog/load.ts';
import type { EngineEvent } from '../engine/events.ts';
import { PageFamilies } from '../metrics/page-families.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { kvTransfer } from './kv-transfer.ts';

const BYTES_PER_GIGABYTE = 1e9;

/** The required families that only Dynamo's TensorRT-LLM worker has, on its own port. */
export function workerFamilyNames(): string[] {
  return loadCatalog('trtllm')
    .families.filter(({ required, labels }) => required && labels.includes('disaggregation_mode'))
    .map(({ name }) => name);
}

/** What Dynamo's TensorRT-LLM worker adds to the engine's families, as its decode side does for the same requests. */
export class DynamoWorkerMetrics {
  readonly #families: PageFamilies;
  readonly #labels: Record<string, string>;

  constructor(modelName: string) {
    const names = new Set(workerFamilyNames());
    const facts = loadCatalog('trtllm').families.filter(({ name }) => names.has(name));
    this.#families = new PageFamilies({ catalogs: ['trtllm'], entries: facts.map(({ name, help }) => [name, help]) });
    this.#labels = { model_name: modelName, engine_type: 'trtllm', disaggregation_mode: 'decode' };
    for (const name of ['num_aborted_requests', 'request_type_image', 'request_type_structured_output']) {
      this.#counter(`${name}_total`);
    }
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'aborted') this.#counter('num_aborted_requests_total').add(1);
    if (event.kind !== 'token' || event.index > 0) return;
    const { bytes, seconds } = kvTransfer(event.request);
    this.#counter('kv_transfer_success_total').add(1);
    this.#histogram('kv_transfer_latency_seconds').observe(seconds);
    this.#histogram('kv_transfer_bytes').observe(bytes);
    this.#histogram('kv_transfer_speed_gb_s').observe(bytes / BYTES_PER_GIGABYTE / seconds);
  }

  page(): string {
    return writePage(this.#families.all(), FORMATS.PYTHON);
  }

  #counter(name: string) {
    return this.#families.counter(`trtllm_${name}`).series(this.#labels);
  }

  #histogram(name: string) {
    return this.#families.histogram(`trtllm_${name}`).series(this.#labels);
  }
}
