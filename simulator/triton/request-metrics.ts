import type { PageFamilies } from '../metrics/page-families.ts';
import type { Scalar, Summary } from '../metrics/family.ts';

/** Where the time of one request went, in whole microseconds. */
export interface RequestTimes {
  readonly queue_us: number;
  readonly input_us: number;
  readonly infer_us: number;
  readonly output_us: number;
}

/** Why a request failed, as Triton words it. */
export type FailureReason = 'REJECTED' | 'CANCELED' | 'BACKEND' | 'OTHER';

const PHASES = ['request', 'queue', 'compute_input', 'compute_infer', 'compute_output'] as const;
type Phase = (typeof PHASES)[number];
const MIN_CACHE_LOOKUP_US = 20;
const MAX_CACHE_LOOKUP_US = 250;

interface ModelOptions {
  readonly model: string;
  readonly responseCache: boolean;
}

/** What Triton itself counts of the requests of one model, whatever its backend. */
export class TritonRequestMetrics {
  readonly #success: Scalar;
  readonly #failure: (reason: FailureReason) => Scalar;
  readonly #inferences: Scalar;
  readonly #executions: Scalar;
  readonly #durations: ReadonlyMap<Phase, Scalar>;
  readonly #summaries: ReadonlyMap<Phase, Summary>;
  readonly #firstResponse: (milliseconds: number) => void;
  readonly #cache: Record<'hits' | 'hit_us' | 'misses' | 'miss_us', Scalar> | null;
  readonly #cacheSummaries: Record<'hit' | 'miss', Summary> | null;

  constructor(families: PageFamilies, { model, responseCache }: ModelOptions) {
    const labels = { model, version: '1' };
    const counter = (name: string): Scalar => families.counter(`nv_${name}`).series(labels);
    const summary = (name: string): Summary => families.summary(`nv_${name}`).series(labels);
    this.#success = counter('inference_request_success');
    this.#inferences = counter('inference_count');
    this.#executions = counter('inference_exec_count');
    this.#durations = new Map(PHASES.map((phase) => [phase, counter(`inference_${phase}_duration_us`)]));
    // A model with a response cache has no summary of whole requests.
    const summarized = PHASES.filter((phase) => !(responseCache && phase === 'request'));
    this.#summaries = new Map(summarized.map((phase) => [phase, summary(`inference_${phase}_summary_us`)]));
    const failures = families.counter('nv_inference_request_failure');
    this.#failure = (reason) => failures.series({ ...labels, reason });
    for (const reason of families.labelValues('nv_inference_request_failure', 'reason')) {
      failures.series({ ...labels, reason });
    }
    const firstResponse = families.histogram('nv_inference_first_response_histogram_ms').series(labels);
    this.#firstResponse = (milliseconds) => firstResponse.observe(Math.floor(milliseconds));
    this.#cache = responseCache
      ? {
          hits: counter('cache_num_hits_per_model'),
          hit_us: counter('cache_hit_duration_per_model'),
          misses: counter('cache_num_misses_per_model'),
          miss_us: counter('cache_miss_duration_per_model'),
        }
      : null;
    this.#cacheSummaries = responseCache
      ? { hit: summary('cache_hit_summary_per_model'), miss: summary('cache_miss_summary_per_model') }
      : null;
  }

  /** The model has done its part, as far as Triton sees it. */
  succeeded(times: RequestTimes): void {
    const { queue_us, input_us, infer_us, output_us } = times;
    this.#success.add(1);
    this.#inferences.add(1);
    this.#executions.add(1);
    this.#observe('request', queue_us + input_us + infer_us + output_us);
    this.#observe('queue', queue_us);
    this.#observe('compute_input', input_us);
    this.#observe('compute_infer', infer_us);
    this.#observe('compute_output', output_us);
  }

  failed(reason: FailureReason): void {
    this.#failure(reason).add(1);
  }

  firstResponse(milliseconds: number): void {
    this.#firstResponse(milliseconds);
  }

  /** The response cache had the response: a success without an inference. */
  cacheHit(): void {
    const lookup_us = this.#lookupMicroseconds();
    this.#success.add(1);
    this.#observe('request', lookup_us);
    this.#observe('queue', 0);
    this.#cache?.hits.add(1);
    this.#cache?.hit_us.add(lookup_us);
    this.#cacheSummaries?.hit.observe(lookup_us);
    this.firstResponse(lookup_us / 1000);
  }

  /** The response cache did not have it: looked up, and inserted when the response was there. */
  cacheMiss(): void {
    const took_us = 2 * this.#lookupMicroseconds();
    this.#cache?.misses.add(1);
    this.#cache?.miss_us.add(took_us);
    this.#cacheSummaries?.miss.observe(took_us);
  }

  #lookupMicroseconds(): number {
    const spread = MAX_CACHE_LOOKUP_US - MIN_CACHE_LOOKUP_US;
    return MIN_CACHE_LOOKUP_US + (this.#success.value % spread);
  }

  #observe(phase: Phase, microseconds: number): void {
    this.#durations.get(phase)?.add(microseconds);
    this.#summaries.get(phase)?.observe(microseconds);
  }
}
