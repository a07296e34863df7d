import { exponentialBound, type NativeBucket, type NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import { figuresOf, type RequestFigures } from '../../../core/measures/request-figures.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import type { NativeSource } from './remote-write-publisher.ts';

/** Eight buckets per doubling: consecutive bounds differ by 9 %. */
export const LATENCY_SCHEMA = 3;
const PER_OCTAVE = 2 ** LATENCY_SCHEMA;

/** Range in seconds with individual buckets: 2^-30 (about 1 ns, where the zero bucket ends) to 2^20 (twelve days). */
const FIRST_INDEX = -30 * PER_OCTAVE + 1;
const LAST_INDEX = 20 * PER_OCTAVE;
const ZERO_THRESHOLD = 2 ** -30;

/** Upper bounds, from that of the bucket before the first one. */
const BOUNDS = Float64Array.from({ length: LAST_INDEX - FIRST_INDEX + 2 }, (_, i) =>
  exponentialBound(FIRST_INDEX - 1 + i, LATENCY_SCHEMA),
);

/** A native histogram with exponential buckets and cheap observation: a logarithm, then counts in a typed array. */
export class ExponentialHistogram {
  readonly #counts = new Float64Array(LAST_INDEX - FIRST_INDEX + 1);
  #zeroCount = 0;
  #count = 0;
  #sum = 0;

  /** Observes seconds. Values above the last bound count in the last bucket, negative values as 0. */
  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    if (value <= ZERO_THRESHOLD) {
      this.#zeroCount += 1;
      return;
    }
    const at = placeOf(value);
    this.#counts[at] = (this.#counts[at] as number) + 1;
  }

  /** The observations so far. */
  read(): NativeHistogram {
    const positive: NativeBucket[] = [];
    this.#counts.forEach((count, i) => {
      const index = i + FIRST_INDEX;
      if (count === 0) return;
      positive.push({ index, low: BOUNDS[i] as number, high: BOUNDS[i + 1] as number, count });
    });
    return {
      schema: LATENCY_SCHEMA,
      zeroThreshold: ZERO_THRESHOLD,
      zeroCount: this.#zeroCount,
      count: this.#count,
      sum: this.#sum,
      positive,
      negative: [],
      customBounds: null,
    };
  }
}

/** Index of the bucket (low, high] of a value: the logarithm may be off by one at a bound, so the bound is compared. */
function placeOf(value: number): number {
  const near = Math.min(LAST_INDEX, Math.ceil(Math.log2(value) * PER_OCTAVE)) - FIRST_INDEX;
  if (value > (BOUNDS[near + 1] as number)) return Math.min(near + 1, LAST_INDEX - FIRST_INDEX);
  return value <= (BOUNDS[near] as number) ? near - 1 : near;
}

const NS_PER_SECOND = 1e9;

const NAMES = [
  'time_to_first_token',
  'time_to_first_token_from_due',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'schedule_delay',
] as const;

/**
 * The latencies of the measure phase as native histograms: the same values as in the live classic ones, with finer
 * buckets.
 */
export class NativeLatencies implements RunEvents {
  readonly sources: readonly NativeSource[];
  readonly #histograms = Object.fromEntries(NAMES.map((name) => [name, new ExponentialHistogram()])) as Readonly<
    Record<(typeof NAMES)[number], ExponentialHistogram>
  >;

  constructor(labels: Readonly<Record<string, string>>) {
    this.sources = NAMES.map((name) => ({
      name: `llmbench_${name}_seconds`,
      labels,
      histogram: () => this.#histograms[name].read(),
    }));
  }

  requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    if (phase === 'measure') this.#histograms.schedule_delay.observe((sent_ns - due_ns) / NS_PER_SECOND);
  }

  firstContent(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void {
    if (phase !== 'measure') return;
    this.#histograms.time_to_first_token.observe(sinceSent_ns / NS_PER_SECOND);
    this.#histograms.time_to_first_token_from_due.observe(sinceDue_ns / NS_PER_SECOND);
  }

  chunkGap(phase: PhaseName, gap_ns: number): void {
    if (phase === 'measure') this.#histograms.inter_chunk_latency.observe(gap_ns / NS_PER_SECOND);
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.outcome !== 'ok') return;
    const figures = figuresOf(record);
    for (const name of ['inter_token_latency', 'request_latency'] as const) {
      const seconds = valueOf(name, figures);
      if (seconds !== null) this.#histograms[name].observe(seconds);
    }
  }
}

function valueOf(name: string, figures: RequestFigures): number | null {
  const measure = DISTRIBUTION_MEASURES.find((each) => each.measure === name && each.clock === 'sent');
  return measure?.value?.(figures) ?? null;
}
