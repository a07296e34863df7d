import { formatCanonicalNumber, type Exemplar, type SampleInput } from '../../core/exposition/index.ts';
import { LIVE_GRIDS } from '../../core/measures/grids.ts';
import { DISTRIBUTION_MEASURES, type PerRequestMeasure } from '../../core/measures/measures.ts';
import { figuresOf } from '../../core/measures/request-figures.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { LiveFamily } from './family.ts';

/**
 * A classic histogram that is cheap to observe: counts in a typed array, no label lookup, nothing allocated. It becomes
 * lines of text only when it is scraped.
 */
export class LiveHistogram implements LiveFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #labels: Readonly<Record<string, string>>;
  readonly #bounds: Float64Array;
  readonly #bucketLabels: readonly { readonly le: string }[];
  /** Not cumulative; the last one is the overflow bucket. */
  readonly #counts: Float64Array;
  readonly #sum = new Float64Array(1);
  /** The last traced request of each bucket. */
  readonly #exemplars: (Exemplar | undefined)[] = [];

  /** `bounds` are the buckets' upper bounds, ascending, in the unit of the values, without `+Inf`. */
  constructor(name: string, help: string, labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#labels = labels;
    this.#bounds = Float64Array.from(bounds);
    this.#bucketLabels = [...bounds.map(formatCanonicalNumber), '+Inf'].map((le) => ({ le }));
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a value in the first bucket whose upper bound is not below it. */
  observe(value: number): void {
    const bucket = this.#bucketOf(value);
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum[0] = (this.#sum[0] as number) + value;
  }

  /** Makes a value that is observed apart from this the example of its bucket. */
  exemplify(exemplar: Exemplar): void {
    this.#exemplars[this.#bucketOf(exemplar.value)] = exemplar;
  }

  #bucketOf(value: number): number {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  samples(): readonly SampleInput[] {
    const sharedLabels = this.#labels;
    let cumulative = 0;
    const samples: SampleInput[] = this.#bucketLabels.map((labels, i) => {
      cumulative += this.#counts[i] ?? 0;
      return {
        metricName: `${this.name}_bucket`,
        labels,
        sharedLabels,
        value: cumulative,
        exemplar: this.#exemplars[i],
      };
    });
    samples.push(
      { metricName: `${this.name}_sum`, labels: {}, sharedLabels, value: this.#sum[0] ?? 0 },
      { metricName: `${this.name}_count`, labels: {}, sharedLabels, value: cumulative },
    );
    return samples;
  }
}

const NS_PER_SECOND = 1e9;

export const INTER_TOKEN_LATENCY = measureOf('inter_token_latency');
export const REQUEST_LATENCY = measureOf('request_latency');

/**
 * The client's latency histograms of one run, the same while it runs and when they are rebuilt from its records. The
 * caller keeps to the measure phase. Which requests are in them: time to first token of every request that had a first
 * chunk with content, inter-chunk latency of every gap, schedule delay of every request sent; inter-token latency and
 * request latency of ok requests only.
 */
export class LatencyHistograms {
  readonly #timeToFirstToken: LiveHistogram;
  readonly #timeToFirstTokenFromDue: LiveHistogram;
  readonly #interTokenLatency: LiveHistogram;
  readonly #interChunkLatency: LiveHistogram;
  readonly #requestLatency: LiveHistogram;
  readonly #scheduleDelay: LiveHistogram;
  readonly #start_ms: number | null;

  /**
   * Families are named `<prefix><measure>_seconds`; every sample carries `labels`. `start_ms`: wall time of the run's
   * monotonic zero, for the times of exemplars; null: there are none.
   */
  constructor(prefix: string, labels: Readonly<Record<string, string>>, start_ms: number | null = null) {
    this.#start_ms = start_ms;
    const histogram = (name: string, grid: keyof typeof LIVE_GRIDS, help: string): LiveHistogram =>
      new LiveHistogram(`${prefix}${name}_seconds`, `${help}; measure phase only.`, labels, LIVE_GRIDS[grid]);
    this.#timeToFirstToken = histogram(
      'time_to_first_token',
      'time_to_first_token',
      'Time from sending a request to its first chunk with content, for ok requests and requests that failed later',
    );
    this.#timeToFirstTokenFromDue = histogram(
      'time_to_first_token_from_due',
      'time_to_first_token',
      'Time from when a request was due to its first chunk with content, including the wait for a free slot',
    );
    this.#interTokenLatency = histogram(
      'inter_token_latency',
      'inter_token_latency',
      'Time from the first to the last chunk with content, divided by output tokens minus 1; one value per ok request',
    );
    this.#interChunkLatency = histogram(
      'inter_chunk_latency',
      'inter_chunk_latency',
      'Time between consecutive chunks with content; one value per gap, including requests that failed later',
    );
    this.#requestLatency = histogram(
      'request_latency',
      'request_latency',
      'Time from sending a request to its last chunk with content, for ok requests',
    );
    this.#scheduleDelay = histogram(
      'schedule_delay',
      'schedule_delay',
      'Time from when a request was due to when it was sent',
    );
  }

  get families(): readonly LiveHistogram[] {
    return [
      this.#timeToFirstToken,
      this.#timeToFirstTokenFromDue,
      this.#interTokenLatency,
      this.#interChunkLatency,
      this.#requestLatency,
      this.#scheduleDelay,
    ];
  }

  requestSent(delay_ns: number): void {
    this.#scheduleDelay.observe(delay_ns / NS_PER_SECOND);
  }

  /** `sinceDue_ns` is null when it is not known. */
  firstContent(sinceSent_ns: number, sinceDue_ns: number | null): void {
    this.#timeToFirstToken.observe(sinceSent_ns / NS_PER_SECOND);
    if (sinceDue_ns !== null) this.#timeToFirstTokenFromDue.observe(sinceDue_ns / NS_PER_SECOND);
  }

  chunkGap(gap_ns: number): void {
    this.#interChunkLatency.observe(gap_ns / NS_PER_SECOND);
  }

  requestEnded(record: RequestRecord): void {
    const exemplify = this.#exemplifier(record);
    const { sent_ns, due_ns, first_content_ns } = record;
    if (first_content_ns !== null) {
      exemplify?.(this.#timeToFirstToken, (first_content_ns - sent_ns) / NS_PER_SECOND);
      if (due_ns !== null) exemplify?.(this.#timeToFirstTokenFromDue, (first_content_ns - due_ns) / NS_PER_SECOND);
    }
    if (record.outcome !== 'ok') return;
    const figures = figuresOf(record);
    const interToken = INTER_TOKEN_LATENCY.value(figures);
    const latency = REQUEST_LATENCY.value(figures);
    if (interToken !== null) {
      this.#interTokenLatency.observe(interToken);
      exemplify?.(this.#interTokenLatency, interToken);
    }
    if (latency !== null) {
      this.#requestLatency.observe(latency);
      exemplify?.(this.#requestLatency, latency);
    }
  }

  /** Makes the request the example of a histogram's bucket; null: it is not traced. */
  #exemplifier({ trace_id, end_ns }: RequestRecord): ((histogram: LiveHistogram, value: number) => void) | null {
    if (trace_id == null || this.#start_ms === null) return null;
    const timestampSeconds = this.#start_ms / 1e3 + end_ns / NS_PER_SECOND;
    return (histogram, value) => histogram.exemplify({ labels: { trace_id }, value, timestampSeconds });
  }

  /** Everything that was observed of a request while it ran, from its record. Imports may not know when it was due. */
  replay(record: RequestRecord): void {
    const { due_ns, sent_ns, first_content_ns } = record;
    if (due_ns !== null) this.requestSent(sent_ns - due_ns);
    if (first_content_ns !== null) {
      this.firstContent(first_content_ns - sent_ns, due_ns === null ? null : first_content_ns - due_ns);
    }
    record.chunk_offsets_ns
      .slice(1)
      .forEach((offset, i) => this.chunkGap(offset - (record.chunk_offsets_ns[i] ?? NaN)));
    this.requestEnded(record);
  }
}

function measureOf(name: string): PerRequestMeasure {
  const measure = DISTRIBUTION_MEASURES.find((candidate) => candidate.measure === name && candidate.clock === 'sent');
  if (measure === undefined || measure.value === null) throw new Error(`core/measures does not define ${name}`);
  return measure;
}
