import type { ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import { GapHistogram } from '../../core/measures/gap-histogram.ts';
import { interTokenLatencySeconds } from '../../core/measures/measures.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { sfc32 } from '../../core/stats/seeded-random.ts';
import { LatencySample } from './latency-sample.ts';
import { OpenIntervals, StepSums } from './step-sums.ts';
import { binPercentiles, timeBins } from './time-bins.ts';
import type { BinPercentile, TimeBins } from './time-bins.ts';

const SECONDS_PER_NS = 1e-9;

/** Percentiles of fewer requests would mostly show chance. */
const REQUESTS_PER_BIN = 10;

/** Maximum number of single requests that are drawn. */
export const MAX_DOTS = 1500;

/** A latency of the ok requests of the measure phase, and its course over the whole run. */
export interface LatencyView {
  /** The bins of `overTime`: wide enough for ten requests each on average. */
  readonly bins: TimeBins;
  /** Seconds, ascending; a random sample above `MAX_KEPT`. */
  readonly sorted: Float32Array;
  /** Number of requests that `sorted` represents. */
  readonly measured: number;
  readonly overTime: Readonly<Record<BinPercentile, readonly (number | null)[]>>;
  /** Single requests of all phases; a random sample above `MAX_DOTS`. */
  readonly dots: readonly (readonly [at_seconds: number, seconds: number])[];
  /** Number of requests that the dots represent. */
  readonly requests: number;
}

/** The records of a run over time, for charts. Seconds count from the run's start. */
export interface RequestView {
  readonly bins: TimeBins;
  readonly timeToFirstToken: LatencyView;
  readonly interTokenLatency: LatencyView;
  readonly requestLatency: LatencyView;
  /** Gaps between chunks of ok requests of the measure phase. */
  readonly gaps: ClassicHistogram | null;
  /** Requests of the measure phase that failed (error or timeout). */
  readonly failed: number;
  readonly inFlight: readonly number[];
  readonly okPerSecond: readonly number[];
  readonly failedPerSecond: readonly number[];
  /** Null if the server did not report the tokens of every response. */
  readonly tokensPerSecond: readonly number[] | null;
}

/** Reads the records of a run, in any order. Memory does not grow with their number. */
export class RequestViewBuilder {
  readonly #timeToFirstToken = new LatencySample();
  readonly #interTokenLatency = new LatencySample();
  readonly #requestLatency = new LatencySample();
  readonly #gaps = new GapHistogram();
  readonly #open = new OpenIntervals();
  readonly #ok = new StepSums();
  readonly #failed = new StepSums();
  readonly #tokens = new StepSums();
  #records = 0;
  #tokensKnown = true;
  #measuredFailures = 0;
  #span = 0;

  add(record: RequestRecord): void {
    const sent = record.sent_ns * SECONDS_PER_NS;
    const end = record.end_ns * SECONDS_PER_NS;
    this.#records += 1;
    this.#open.add(sent, end);
    this.#span = Math.max(this.#span, end);
    const standing = standingOf(record);
    if (standing === 'ok') this.#addOk(record);
    if (standing === 'failed') {
      this.#failed.add(end, 1);
      if (record.phase === 'measure') this.#measuredFailures += 1;
    }
  }

  /** Null when there were no records. */
  view(): RequestView | null {
    if (this.#records === 0) return null;
    const bins = timeBins(this.#span);
    return {
      bins,
      timeToFirstToken: latencyView(this.#timeToFirstToken, this.#span),
      interTokenLatency: latencyView(this.#interTokenLatency, this.#span),
      requestLatency: latencyView(this.#requestLatency, this.#span),
      gaps: this.#gaps.n === 0 ? null : this.#gaps.toClassic(),
      failed: this.#measuredFailures,
      inFlight: this.#open.mean(bins),
      okPerSecond: this.#ok.perSecond(bins),
      failedPerSecond: this.#failed.perSecond(bins),
      tokensPerSecond: this.#tokensKnown ? this.#tokens.perSecond(bins) : null,
    };
  }

  #addOk(record: RequestRecord): void {
    const { sent_ns, first_content_ns: first, last_content_ns: last, chunk_offsets_ns: offsets } = record;
    const measured = record.phase === 'measure';
    const since = (at_ns: number | null): number => (at_ns === null ? NaN : (at_ns - sent_ns) * SECONDS_PER_NS);
    const at = (at_ns: number | null): number => (at_ns ?? record.end_ns) * SECONDS_PER_NS;
    this.#timeToFirstToken.add(at(first), since(first), measured);
    this.#interTokenLatency.add(at(last), interTokenLatencySeconds(record) ?? NaN, measured);
    this.#requestLatency.add(at(last), since(last), measured);
    this.#ok.add(record.end_ns * SECONDS_PER_NS, 1);
    if (record.output_tokens === null) this.#tokensKnown = false;
    for (const [i, offset] of offsets.entries()) {
      const before = offsets[i - 1];
      if (measured && before !== undefined) this.#gaps.observe(offset - before);
      this.#tokens.add((sent_ns + offset) * SECONDS_PER_NS, (record.output_tokens ?? 0) / offsets.length);
    }
  }
}

function latencyView(latency: LatencySample, spanSeconds: number): LatencyView {
  const { at_seconds: at, values } = latency;
  const bins = timeBins(spanSeconds, (REQUESTS_PER_BIN * spanSeconds) / Math.max(1, values.length));
  return {
    bins,
    sorted: latency.sortedMeasured(),
    measured: latency.measuredRequests,
    overTime: binPercentiles(bins, at, values),
    dots: sample(values.length, MAX_DOTS).map((i) => [at[i] ?? NaN, values[i] ?? NaN]),
    requests: latency.requests,
  };
}

/** Selects at most `most` of `n` items: all, or a deterministic random sample, ascending. */
function sample(n: number, most: number): number[] {
  if (n <= most) return Array.from({ length: n }, (_, i) => i);
  const random = sfc32(1);
  const chosen = new Set<number>();
  while (chosen.size < most) chosen.add(Math.floor((random() / 2 ** 32) * n));
  return [...chosen].sort((a, b) => a - b);
}
