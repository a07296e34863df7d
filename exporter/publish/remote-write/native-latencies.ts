import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import { figuresOf, type RequestFigures } from '../../../core/measures/request-figures.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { ExponentialHistogram } from './exponential-histogram.ts';
import type { NativeSource } from './family-sampler.ts';

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
