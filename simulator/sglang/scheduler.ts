import type { EngineEvent, RequestProgress, StepEvent } from '../engine/events.ts';
import { seconds } from '../metrics/signals.ts';

/** `--decode-log-interval`: decode steps from one report to the next. */
const REPORT_STEPS = 40;

/** What SGLang's scheduler keeps account of between its reports: with each prefill and every 40 decode steps. */
export class SglangScheduler {
  /** The present, on the engine's clock. */
  now_ns = 0;
  /** Requests in the batch now. */
  running = 0;
  hasReported = false;
  /** Share of the prompts of the latest batch that came from the cache; a decode report sets it to 0. */
  cacheHitRate = 0;
  /** Output tokens per second of the latest decode report. */
  tokensPerSecond = 0;
  readonly retracted = new Set<RequestProgress>();
  readonly #decoding = new Set<RequestProgress>();
  #busy_s = 0;
  /** Prompt tokens of the requests that the step in progress began with: all, and those found in the cache. */
  #batchPromptTokens = 0;
  #batchCachedTokens = 0;
  #tokens = 0;
  #decodeSteps = 0;
  #since_ns: number | null = null;

  get idle_s(): number {
    return Math.max(0, this.now_ns * 1e-9 - this.#busy_s);
  }

  /** Of the requests in their decode phase, prompts included. */
  get decodingTokens(): number {
    let tokens = 0;
    for (const { promptTokens, generatedTokens } of this.#decoding) tokens += promptTokens + generatedTokens;
    return tokens;
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'kv-traffic') return;
    if (event.kind === 'step') {
      this.#endStep(event);
      return;
    }
    const { kind, request } = event;
    this.hasReported = true;
    if (kind === 'token') {
      this.#tokens++;
      this.#decoding.add(request);
    } else this.#decoding.delete(request);
    if (kind === 'preempted') this.retracted.add(request);
    else this.retracted.delete(request);
    if (kind !== 'scheduled' || event.resumed) return;
    this.#batchPromptTokens += request.promptTokens;
    this.#batchCachedTokens += request.cachedTokens;
  }

  /** The tokens of the step come after it. */
  #endStep({ start_ns, time_ns, prefillTokens }: StepEvent): void {
    this.#busy_s += seconds(start_ns, time_ns);
    if (prefillTokens > 0) {
      this.cacheHitRate = this.#batchPromptTokens === 0 ? 0 : this.#batchCachedTokens / this.#batchPromptTokens;
      this.#batchPromptTokens = 0;
      this.#batchCachedTokens = 0;
      return;
    }
    this.#since_ns ??= start_ns;
    if (++this.#decodeSteps < REPORT_STEPS) return;
    this.tokensPerSecond = this.#tokens / ((time_ns - this.#since_ns) / 1e9);
    this.#since_ns = time_ns;
    this.#tokens = 0;
    this.#decodeSteps = 0;
    this.cacheHitRate = 0;
  }
}
