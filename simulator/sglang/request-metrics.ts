import type { AbortedEvent, EngineEvent, FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { Labels } from '../metrics/family.ts';
import type { SglangFamilies } from './families.ts';
import { tokenizerLabels } from './labels.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/**
 * What SGLang's tokenizer process counts of requests: first tokens and gaps of streams as they come, everything else
 * when a request ends. An aborted one counts in `num_aborted_requests_total` and in nothing that is counted at the end.
 */
export class SglangRequestMetrics {
  readonly #families: SglangFamilies;
  readonly #labels: Labels;

  constructor(families: SglangFamilies, modelName: string) {
    this.#families = families;
    this.#labels = tokenizerLabels(modelName);
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'token') this.#token(event);
    else if (event.kind === 'finished') this.#finished(event);
    else if (event.kind === 'aborted') this.#aborted(event);
  }

  #token({ request, time_ns, previous_ns }: TokenEvent): void {
    if (!request.streaming) return;
    if (previous_ns === null) {
      this.#histogram('time_to_first_token_seconds', { ...this.#labels, is_streaming: 'true' }).observe(
        (time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND,
      );
    } else {
      this.#histogram('inter_token_latency_seconds').observe((time_ns - previous_ns) * SECONDS_PER_NANOSECOND);
    }
  }

  #finished({ request, time_ns }: FinishedEvent): void {
    const streaming = { ...this.#labels, is_streaming: request.streaming ? 'true' : 'false' };
    const seconds = (from_ns: number): number => (time_ns - from_ns) * SECONDS_PER_NANOSECOND;
    this.#histogram('e2e_request_latency_seconds', streaming).observe(seconds(request.arrival_ns));
    if (request.generatedTokens > 1) {
      const decode = seconds(request.firstToken_ns ?? time_ns);
      this.#histogram('request_time_per_output_token_seconds', streaming).observe(
        decode / (request.generatedTokens - 1),
      );
    }
    this.#histogram('prompt_tokens_histogram').observe(request.promptTokens);
    this.#histogram('uncached_prompt_tokens_histogram').observe(request.promptTokens - request.cachedTokens);
    this.#histogram('generation_tokens_histogram').observe(request.generatedTokens);
    this.#counter('prompt_tokens_total', streaming).add(request.promptTokens);
    this.#counter('generation_tokens_total', streaming).add(request.generatedTokens);
    this.#counter('num_requests_total', streaming).add(1);
    const [host = 0, storage = 0] = request.offloadedTokens;
    this.#cached('device', request.cachedTokens - host - storage);
    this.#cached('host', host);
    this.#cached('storage_file', storage);
  }

  #aborted(_event: AbortedEvent): void {
    this.#counter('num_aborted_requests_total').add(1);
  }

  #cached(source: string, tokens: number): void {
    if (tokens > 0) this.#counter('cached_tokens_total', { ...this.#labels, cache_source: source }).add(tokens);
  }

  #counter(name: string, labels: Labels = this.#labels) {
    return this.#families.counter(`sglang:${name}`).series(labels);
  }

  #histogram(name: string, labels: Labels = this.#labels) {
    return this.#families.histogram(`sglang:${name}`).series(labels);
  }
}
