import type { EngineEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { Scalar } from '../metrics/series.ts';
import { VllmBlockLifeMetrics } from './block-life-metrics.ts';
import { VllmDraftMetrics } from './draft-metrics.ts';
import type { VllmFamilies } from './families.ts';
import { VllmOffloadMetrics } from './offload-metrics.ts';
import { VllmTransferMetrics } from './transfer-metrics.ts';

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
