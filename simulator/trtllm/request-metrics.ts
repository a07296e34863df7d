import type { EngineEvent, RequestProgress } from '../engine/events.ts';
import type { Labels } from '../metrics/family.ts';
import type { TrtllmFamilies } from './families.ts';
import { commonLabels } from './labels.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/**
 * What trtllm-serve counts of requests, all of it when one ends, cancelled ones included. A time that is not above zero,
 * as a decode phase of one token, is not observed; the queue time alone may be zero.
 */
export class TrtllmRequestMetrics {
  readonly #families: TrtllmFamilies;
  readonly #labels: Labels;

  constructor(families: TrtllmFamilies, modelName: string) {
    this.#families = families;
    this.#labels = commonLabels(modelName);
    this.#counter('prompt_cached_tokens_total');
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'finished') this.#ended(event.request, event.request.finishReason);
    else if (event.kind === 'aborted') this.#ended(event.request, 'cancelled');
  }

  /** A request was refused before the engine saw it. */
  refused(status: number): void {
    this.#counter('request_error_total', { http_code: `${status}` }).add(1);
  }

  #ended(request: RequestProgress, finishedReason: string): void {
    const { arrival_ns, scheduled_ns, firstToken_ns, lastToken_ns, generatedTokens } = request;
    this.#counter('request_success_total', { finished_reason: finishedReason }).add(1);
    this.#counter('prompt_tokens_total').add(request.promptTokens);
    this.#counter('generation_tokens_total').add(generatedTokens);
    this.#counter('prompt_cached_tokens_total').add(request.cachedTokens);
    this.#histogram('prompt_cached_tokens_per_request').observe(request.cachedTokens);
    if (scheduled_ns === null) return;
    this.#histogram('request_queue_time_seconds').observe((scheduled_ns - arrival_ns) * SECONDS_PER_NANOSECOND);
    if (firstToken_ns === null || lastToken_ns === null) return;
    this.#time('e2e_request_latency', lastToken_ns - arrival_ns);
    this.#time('time_to_first_token', firstToken_ns - arrival_ns);
    this.#time('request_prefill_time', firstToken_ns - scheduled_ns);
    this.#time('request_decode_time', lastToken_ns - firstToken_ns);
    this.#time('request_inference_time', lastToken_ns - scheduled_ns);
    if (generatedTokens > 1) {
      this.#time('time_per_output_token', (lastToken_ns - firstToken_ns) / (generatedTokens - 1));
    }
  }

  #time(name: string, time_ns: number): void {
    if (time_ns > 0) this.#histogram(`${name}_seconds`).observe(time_ns * SECONDS_PER_NANOSECOND);
  }

  #counter(name: string, labels: Labels = {}) {
    return this.#families.counter(`trtllm_${name}`).series({ ...this.#labels, ...labels });
  }

  #histogram(name: string) {
    return this.#families.histogram(`trtllm_${name}`).series(this.#labels);
  }
}
