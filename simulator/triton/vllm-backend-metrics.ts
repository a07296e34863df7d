import type { EngineEvent, FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { PageFamilies } from '../metrics/page-families.ts';
import type { Histogram, Scalar } from '../metrics/series.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/** The eight families of Triton's vLLM backend: vLLM's names, Triton's labels. */
export class VllmBackendMetrics {
  readonly #promptTokens: Scalar;
  readonly #generationTokens: Scalar;
  readonly #timeToFirstToken: Histogram;
  readonly #timePerOutputToken: Histogram;
  readonly #endToEnd: Histogram;
  readonly #requestPromptTokens: Histogram;
  readonly #requestGenerationTokens: Histogram;
  readonly #n: Histogram;

  constructor(families: PageFamilies, model: string) {
    const labels = { model, version: '1' };
    const histogram = (name: string): Histogram => families.histogram(`vllm:${name}`).series(labels);
    this.#promptTokens = families.counter('vllm:prompt_tokens_total').series(labels);
    this.#generationTokens = families.counter('vllm:generation_tokens_total').series(labels);
    this.#timeToFirstToken = histogram('time_to_first_token_seconds');
    this.#timePerOutputToken = histogram('time_per_output_token_seconds');
    this.#endToEnd = histogram('e2e_request_latency_seconds');
    this.#requestPromptTokens = histogram('request_prompt_tokens');
    this.#requestGenerationTokens = histogram('request_generation_tokens');
    this.#n = histogram('request_params_n');
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'token') this.#token(event);
      else if (event.kind === 'finished') this.#finished(event);
    }
  }

  #token({ request, time_ns, previous_ns }: TokenEvent): void {
    this.#generationTokens.add(1);
    if (previous_ns !== null) {
      this.#timePerOutputToken.observe((time_ns - previous_ns) * SECONDS_PER_NANOSECOND);
      return;
    }
    this.#promptTokens.add(request.promptTokens);
    this.#timeToFirstToken.observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
  }

  #finished({ request, time_ns }: FinishedEvent): void {
    this.#endToEnd.observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
    this.#requestPromptTokens.observe(request.promptTokens);
    this.#requestGenerationTokens.observe(request.generatedTokens);
    this.#n.observe(1);
  }
}
