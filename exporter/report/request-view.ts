import type { ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import { GapHistogram } from '../../core/measures/chunk-reading.ts';
import { interTokenLatencySeconds } from '../../core/measures/measures.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { FloatColumn } from '../../core/stats/float-column.ts';
import { sfc32 } from '../../core/stats/seeded-random.ts';
import { percentile } from '../../core/stats/percentiles.ts';

/** A chart cannot resolve more values. */
const MAX_KEPT = 200_000;

/**
 * One latency of many requests, with the time at which each became known: all, or a deterministic random sample of
 * `most` (reservoir sampling, Vitter's algorithm R), so that memory does not grow with the run.
 */
export class LatencySample {
  readonly #most: number;
  readonly #random = sfc32(1);
  readonly #at = new FloatColumn('single');
  readonly #values = new FloatColumn('single');
  readonly #measured = new FloatColumn('single');
  #seen = 0;
  #seenMeasured = 0;

  constructor(most = MAX_KEPT) {
    this.#most = most;
  }

  /** NaN if the request has no value. */
  add(at_seconds: number, seconds: number, measured: boolean): void {
    if (Number.isNaN(seconds)) return;
    this.#seen += 1;
    if (measured) this.#seenMeasured += 1;
    const place = this.#seen <= this.#most ? this.#seen - 1 : Math.floor((this.#random() / 2 ** 32) * this.#seen);
    if (place >= this.#most) return;
    this.#at.set(place, at_seconds);
    this.#values.set(place, seconds);
    this.#measured.set(place, Number(measured));
  }

  /** Requests that have the latency. */
  get requests(): number {
    return this.#seen;
  }

  /** Requests of the measure phase. */
  get measuredRequests(): number {
    return this.#seenMeasured;
  }

  /** Of the kept requests. */
  get at_seconds(): Float64Array {
    return this.#at.toArray();
  }

  /** Seconds, beside `at_seconds`. */
  get values(): Float64Array {
    return this.#values.toArray();
  }

  /** Seconds of the kept requests of the measure phase, ascending. */
  sortedMeasured(): Float64Array {
    return this.values.filter((_, i) => this.#measured.at(i) === 1).sort();
  }
}

/** Amounts are summed in steps of this length while the records are read; a bin is a whole number of steps. */
const STEP_SECONDS = 0.1;

/** Amounts over the time of a run, in memory bounded by the number of bins. */
export class StepSums {
  readonly #steps: number[] = [];

  add(at_seconds: number, amount: number): void {
    addAt(this.#steps, Math.floor(at_seconds / STEP_SECONDS), amount);
  }

  /** The sum of each bin over its length. */
  perSecond(bins: TimeBins): number[] {
    return meansOf(bins, this.#steps);
  }
}

/** Number of open intervals over the time of a run, in memory bounded by the number of bins. */
export class OpenIntervals {
  /** Seconds of the intervals that begin or end in a step. */
  readonly #edges: number[] = [];
  /** Change of the number of intervals that are open for a whole step. */
  readonly #changes: number[] = [];

  add(from_seconds: number, to_seconds: number): void {
    const first = Math.floor(from_seconds / STEP_SECONDS);
    const last = Math.floor(to_seconds / STEP_SECONDS);
    if (first === last) {
      addAt(this.#edges, first, to_seconds - from_seconds);
      return;
    }
    addAt(this.#edges, first, (first + 1) * STEP_SECONDS - from_seconds);
    addAt(this.#edges, last, to_seconds - last * STEP_SECONDS);
    addAt(this.#changes, first + 1, 1);
    addAt(this.#changes, last, -1);
  }

  /** The mean number of each bin. */
  mean(bins: TimeBins): number[] {
    let open = 0;
    const seconds = this.#edges.map((edge, step) => {
      open += this.#changes[step] ?? 0;
      return edge + open * STEP_SECONDS;
    });
    return meansOf(bins, seconds);
  }
}

function addAt(steps: number[], step: number, amount: number): void {
  while (steps.length <= step) steps.push(0);
  steps[step] = (steps[step] ?? 0) + amount;
}

function meansOf(bins: TimeBins, steps: readonly number[]): number[] {
  const sums = new Array<number>(bins.count).fill(0);
  const stepsPerBin = Math.round(bins.widthSeconds / STEP_SECONDS);
  steps.forEach((amount, step) => {
    const bin = Math.min(bins.count - 1, Math.floor(step / stepsPerBin));
    sums[bin] = (sums[bin] ?? 0) + amount;
  });
  return sums.map((sum, bin) => sum / binSeconds(bins, bin));
}

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
  readonly sorted: Float64Array;
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

/** What of a record the view takes. */
export const VIEW_FIELDS = [
  'phase',
  'outcome',
  'sent_ns',
  'first_content_ns',
  'first_output_ns',
  'last_content_ns',
  'end_ns',
  'output_tokens',
  'reasoning_tokens',
  'chunk_offsets_ns',
] as const satisfies readonly (keyof RequestRecord)[];
type ViewedRecord = Pick<RequestRecord, (typeof VIEW_FIELDS)[number]>;

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

  add(record: ViewedRecord): void {
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

  #addOk(record: ViewedRecord): void {
    const { sent_ns, first_content_ns: first, last_content_ns: last, chunk_offsets_ns: offsets } = record;
    const measured = record.phase === 'measure';
    const since = (at_ns: number | null): number => (at_ns === null ? NaN : (at_ns - sent_ns) * SECONDS_PER_NS);
    const at = (at_ns: number | null): number => (at_ns ?? record.end_ns) * SECONDS_PER_NS;
    this.#timeToFirstToken.add(at(first), since(first), measured);
    this.#interTokenLatency.add(at(last), interTokenLatencySeconds(record) ?? NaN, measured);
    this.#requestLatency.add(at(last), since(last), measured);
    this.#ok.add(record.end_ns * SECONDS_PER_NS, 1);
    if (record.output_tokens === null) this.#tokensKnown = false;
    const tokensOfChunk = (record.output_tokens ?? 0) / offsets.length;
    for (let i = 0; i < offsets.length; i++) {
      const offset = offsets[i] ?? NaN;
      if (measured && i > 0) this.#gaps.observe(offset - (offsets[i - 1] ?? NaN));
      this.#tokens.add((sent_ns + offset) * SECONDS_PER_NS, tokensOfChunk);
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

/** Round widths, in seconds. */
const WIDTHS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MAX_BINS = 150;
const USUAL_WIDTH = 0.5;
const SHORT_SECONDS = 5;

/** The bins of equal length that the time of a run is divided into. */
export interface TimeBins {
  readonly widthSeconds: number;
  readonly count: number;
  /** The whole time, from the run's start. */
  readonly spanSeconds: number;
}

/**
 * At most 150 bins of a round width; not narrower than half a second unless the whole is short, nor than
 * `leastSeconds`. The last bin takes the remainder: half to one and a half of the width.
 */
export function timeBins(spanSeconds: number, leastSeconds = 0): TimeBins {
  const least = Math.max(leastSeconds, spanSeconds < SHORT_SECONDS ? 0 : USUAL_WIDTH);
  const fitting = WIDTHS.find((width) => width >= least && spanSeconds / width <= MAX_BINS);
  const widthSeconds = fitting ?? Math.ceil(Math.max(least, spanSeconds / MAX_BINS));
  return { widthSeconds, count: Math.max(1, Math.round(spanSeconds / widthSeconds)), spanSeconds };
}

/** Where a bin ends. */
export function binEnd({ widthSeconds, spanSeconds, count }: TimeBins, bin: number): number {
  return bin === count - 1 ? spanSeconds : (bin + 1) * widthSeconds;
}

/** Length of a bin. */
export function binSeconds(bins: TimeBins, bin: number): number {
  return binEnd(bins, bin) - bin * bins.widthSeconds;
}

/** Index of the bin that contains an instant; instants past the end belong to the last. */
export function binOf({ widthSeconds, count }: TimeBins, at_seconds: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(at_seconds / widthSeconds)));
}

/** A percentile is drawn only if a bin has values on both sides of it. */
const MIN_VALUES = { p50: 1, p90: 10, p99: 100 } as const;

type BinPercentile = keyof typeof MIN_VALUES;

const QUANTILES: Readonly<Record<BinPercentile, number>> = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** The percentiles of the values of each bin; null where there are too few values (p90 needs 10, p99 needs 100). */
export function binPercentiles(
  bins: TimeBins,
  at_seconds: Float64Array,
  values: Float64Array,
): Record<BinPercentile, (number | null)[]> {
  const groups = Array.from({ length: bins.count }, (): number[] => []);
  at_seconds.forEach((at, i) => {
    const value = values[i] ?? NaN;
    if (Number.isFinite(value)) groups[binOf(bins, at)]?.push(value);
  });
  const sorted = groups.map((group) => Float64Array.from(group).sort());
  const each = (name: BinPercentile): (number | null)[] =>
    sorted.map((group) => (group.length < MIN_VALUES[name] ? null : percentile(group, QUANTILES[name])));
  return { p50: each('p50'), p90: each('p90'), p99: each('p99') };
}
