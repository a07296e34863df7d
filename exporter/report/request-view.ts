import type { ClassicHistogram } from '../../core/histogram/classic-histogram.ts';
import { FloatColumn } from '../../core/measures/float-column.ts';
import { GapHistogram } from '../../core/measures/gap-histogram.ts';
import { interTokenLatencySeconds } from '../../core/measures/measures.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { sample } from './sample.ts';
import { binPercentiles, binSeconds, meanOpen, timeBins } from './time-bins.ts';
import type { BinPercentile, TimeBins } from './time-bins.ts';

const SECONDS_PER_NS = 1e-9;

/** Tokens and ends are counted in steps of this length while the records are read; bins are whole numbers of them. */
const STEP_SECONDS = 0.1;

/** Percentiles of fewer requests than these would only show chance. */
const REQUESTS_PER_BIN = 10;

/** More single requests than these are not drawn. */
export const MOST_DOTS = 1500;

/** A latency of the ok requests of the measure phase, and how it went over the whole run. */
export interface LatencyView {
  /** Those of `overTime`: wide enough for ten requests each on average. */
  readonly bins: TimeBins;
  /** Seconds, ascending. */
  readonly sorted: Float64Array;
  readonly overTime: Readonly<Record<BinPercentile, readonly (number | null)[]>>;
  /** Single requests of both phases, a random choice of them when there are more than `MOST_DOTS`. */
  readonly dots: readonly (readonly [at_seconds: number, seconds: number])[];
  /** Of how many requests the dots are. */
  readonly requests: number;
}

/** What the records of a run look like over time, for drawing. Seconds count from the run's start. */
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
  /** Null when the server did not tell the tokens of each answer. */
  readonly tokensPerSecond: readonly number[] | null;
}

/** Reads the records of a run, in any order, with a few dozen bytes of memory per request. */
export class RequestViewBuilder {
  readonly #timeToFirstToken = new LatencyColumns();
  readonly #interTokenLatency = new LatencyColumns();
  readonly #requestLatency = new LatencyColumns();
  readonly #gaps = new GapHistogram();
  readonly #sent = new FloatColumn('single');
  readonly #end = new FloatColumn('single');
  readonly #ok: number[] = [];
  readonly #failed: number[] = [];
  readonly #tokens: number[] = [];
  #tokensKnown = true;
  #measuredFailures = 0;
  #span = 0;

  add(record: RequestRecord): void {
    const sent = record.sent_ns * SECONDS_PER_NS;
    const end = record.end_ns * SECONDS_PER_NS;
    this.#sent.append(sent);
    this.#end.append(end);
    this.#span = Math.max(this.#span, end);
    const standing = standingOf(record);
    if (standing === 'ok') this.#addOk(record);
    if (standing === 'failed') {
      count(this.#failed, end, 1);
      if (record.phase === 'measure') this.#measuredFailures += 1;
    }
  }

  /** Null when there were no records. */
  view(): RequestView | null {
    if (this.#sent.length === 0) return null;
    const bins = timeBins(this.#span);
    const perSecond = (steps: readonly number[]): number[] =>
      inBins(bins, steps).map((sum, bin) => sum / binSeconds(bins, bin));
    return {
      bins,
      timeToFirstToken: this.#timeToFirstToken.view(this.#span),
      interTokenLatency: this.#interTokenLatency.view(this.#span),
      requestLatency: this.#requestLatency.view(this.#span),
      gaps: this.#gaps.n === 0 ? null : this.#gaps.toClassic(),
      failed: this.#measuredFailures,
      inFlight: meanOpen(bins, this.#sent.toArray(), this.#end.toArray()),
      okPerSecond: perSecond(this.#ok),
      failedPerSecond: perSecond(this.#failed),
      tokensPerSecond: this.#tokensKnown ? perSecond(this.#tokens) : null,
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
    count(this.#ok, record.end_ns * SECONDS_PER_NS, 1);
    if (record.output_tokens === null) this.#tokensKnown = false;
    for (const [i, offset] of offsets.entries()) {
      const before = offsets[i - 1];
      if (measured && before !== undefined) this.#gaps.observe(offset - before);
      count(this.#tokens, (sent_ns + offset) * SECONDS_PER_NS, (record.output_tokens ?? 0) / offsets.length);
    }
  }
}

/** One latency of many requests, with the moments at which it was known. */
class LatencyColumns {
  readonly #at = new FloatColumn('single');
  readonly #values = new FloatColumn('single');
  readonly #measured = new FloatColumn('single');

  /** NaN: the request has none. */
  add(at_seconds: number, seconds: number, measured: boolean): void {
    if (Number.isNaN(seconds)) return;
    this.#at.append(at_seconds);
    this.#values.append(seconds);
    this.#measured.append(Number(measured));
  }

  view(spanSeconds: number): LatencyView {
    const bins = timeBins(spanSeconds, (REQUESTS_PER_BIN * spanSeconds) / Math.max(1, this.#values.length));
    const [at, values, measured] = [this.#at.toArray(), this.#values.toArray(), this.#measured.toArray()];
    return {
      bins,
      sorted: values.filter((_, i) => measured[i] === 1).sort(),
      overTime: binPercentiles(bins, at, values),
      dots: sample(values.length, MOST_DOTS).map((i) => [at[i] ?? NaN, values[i] ?? NaN]),
      requests: values.length,
    };
  }
}

function count(steps: number[], at_seconds: number, amount: number): void {
  const step = Math.floor(at_seconds / STEP_SECONDS);
  while (steps.length <= step) steps.push(0);
  steps[step] = (steps[step] ?? 0) + amount;
}

function inBins(bins: TimeBins, steps: readonly number[]): number[] {
  const sums = new Array<number>(bins.count).fill(0);
  const stepsPerBin = Math.round(bins.widthSeconds / STEP_SECONDS);
  steps.forEach((amount, step) => {
    const bin = Math.min(bins.count - 1, Math.floor(step / stepsPerBin));
    sums[bin] = (sums[bin] ?? 0) + amount;
  });
  return sums;
}
