import type {
  EngineState,
  EngineEvent,
  PreemptedEvent,
  ScheduledEvent,
  StepEvent,
  TokenEvent,
} from '../engine/events.ts';
import type { Labels } from '../metrics/family.ts';
import type { SglangFamilies } from './families.ts';
import { schedulerLabels } from './labels.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/** How the time of a step divides among the stages of the scheduler's loop. */
const STAGE_SHARES = { run_batch: 0.9, process_batch_result: 0.06, get_next_batch_to_run: 0.04 };

/** What SGLang's scheduler counts as it works: queue times, tokens of each batch, retractions, time in its stages. */
export class SglangSchedulerMetrics {
  readonly #families: SglangFamilies;
  readonly #labels: Labels;
  readonly #throughput = new DecodeThroughput();
  #busySeconds = 0;
  /** Prompt tokens of the requests that the step in progress began with: all, and those found in the cache. */
  #batchPromptTokens = 0;
  #batchCachedTokens = 0;
  #cacheHitRate = 0;

  constructor(families: SglangFamilies, modelName: string) {
    this.#families = families;
    this.#labels = schedulerLabels(modelName);
    for (const mode of families.labelValues('sglang:prefill_effective_tokens_total', 'mode')) {
      this.#counter('prefill_effective_tokens_total', { mode });
    }
    this.#counter('scheduler_idle_seconds_total');
    this.#counter('scheduler_process_cpu_seconds_total');
    for (const category of families.labelValues('sglang:scheduler_stage_seconds_total', 'category')) {
      this.#stage(category);
    }
  }

  /** Share of the prompts of the latest batch that came from the cache; a decode report sets it to 0. */
  get cacheHitRate(): number {
    return this.#cacheHitRate;
  }

  /** Output tokens per second of the latest decode report. */
  get generationThroughput(): number {
    return this.#throughput.tokensPerSecond;
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'scheduled') this.#scheduled(event);
    else if (event.kind === 'preempted') this.#retracted(event);
    else if (event.kind === 'step') this.#step(event);
    else if (event.kind === 'token') this.#token(event);
  }

  /** Sets what grows with time alone. */
  update({ now_ns }: EngineState): void {
    const idle = Math.max(0, now_ns * SECONDS_PER_NANOSECOND - this.#busySeconds);
    this.#counter('scheduler_idle_seconds_total').value = idle;
    this.#stage('idle').value = idle;
    const { user, system } = process.cpuUsage();
    this.#counter('scheduler_process_cpu_seconds_total').value = (user + system) / 1e6;
  }

  #scheduled({ request, time_ns, resumed }: ScheduledEvent): void {
    if (resumed) return;
    this.#histogram('queue_time_seconds').observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
    const [host = 0, storage = 0] = request.offloadedTokens;
    const effective = (mode: string): { add(tokens: number): void } =>
      this.#counter('prefill_effective_tokens_total', { mode });
    effective('input').add(request.promptTokens - request.cachedTokens);
    effective('device_hit').add(request.cachedTokens - host - storage);
    effective('host_hit').add(host);
    effective('storage_hit').add(storage);
    this.#counter('realtime_tokens_total', { mode: 'prefill_cache' }).add(request.cachedTokens);
    this.#batchPromptTokens += request.promptTokens;
    this.#batchCachedTokens += request.cachedTokens;
  }

  #retracted({ request, generatedTokens }: PreemptedEvent): void {
    this.#counter('num_retracted_requests_total').add(1);
    this.#counter('num_retracted_input_tokens_total').add(request.promptTokens);
    this.#counter('num_retracted_output_tokens_total').add(generatedTokens);
  }

  #step(step: StepEvent): void {
    const { start_ns, time_ns, prefillTokens, decoding } = step;
    const seconds = (time_ns - start_ns) * SECONDS_PER_NANOSECOND;
    this.#busySeconds += seconds;
    for (const [category, share] of Object.entries(STAGE_SHARES)) this.#stage(category).add(seconds * share);
    const category = prefillTokens === 0 ? 'decode' : decoding === 0 ? 'extend' : 'mixed';
    this.#counter('forward_execution_seconds_total', { category }).add(seconds);
    const graph = prefillTokens === 0 ? 'decode_cuda_graph' : 'prefill_none';
    this.#counter('cuda_graph_passes_total', { mode: graph }).add(1);
    if (prefillTokens > 0) this.#counter('realtime_tokens_total', { mode: 'prefill_compute' }).add(prefillTokens);
    if (prefillTokens > 0) {
      this.#cacheHitRate = this.#batchPromptTokens === 0 ? 0 : this.#batchCachedTokens / this.#batchPromptTokens;
      this.#batchPromptTokens = 0;
      this.#batchCachedTokens = 0;
    } else if (this.#throughput.step(step)) {
      this.#cacheHitRate = 0;
    }
  }

  #token({ request, time_ns, previous_ns }: TokenEvent): void {
    this.#throughput.token();
    this.#counter('realtime_tokens_total', { mode: 'decode' }).add(1);
    if (previous_ns !== null) return;
    const scheduled_ns = request.scheduled_ns ?? time_ns;
    this.#histogram('per_stage_req_latency_seconds', { stage: 'prefill_forward' }).observe(
      (time_ns - scheduled_ns) * SECONDS_PER_NANOSECOND,
    );
  }

  #stage(category: string) {
    return this.#counter('scheduler_stage_seconds_total', { category, forward_overlap: 'none' });
  }

  #counter(name: string, labels: Labels = {}) {
    return this.#families.counter(`sglang:${name}`).series({ ...this.#labels, ...labels });
  }

  #histogram(name: string, labels: Labels = {}) {
    return this.#families.histogram(`sglang:${name}`).series({ ...this.#labels, ...labels });
  }
}

/** `--decode-log-interval`: decode steps from one report to the next. */
const REPORT_STEPS = 40;

/** Output tokens per second, as the scheduler works it out every 40 decode steps. */
class DecodeThroughput {
  tokensPerSecond = 0;
  #tokens = 0;
  #steps = 0;
  #since_ns: number | null = null;

  token(): void {
    this.#tokens++;
  }

  /**
   * Takes up the end of a step, whose own tokens come after it.
   *
   * @returns whether it made a report
   */
  step({ start_ns, time_ns }: StepEvent): boolean {
    this.#since_ns ??= start_ns;
    if (++this.#steps < REPORT_STEPS) return false;
    this.tokensPerSecond = this.#tokens / ((time_ns - this.#since_ns) / 1e9);
    this.#since_ns = time_ns;
    this.#tokens = 0;
    this.#steps = 0;
    return true;
  }
}
