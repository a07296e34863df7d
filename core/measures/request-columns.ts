import type { RequestRecord } from '../run/record.ts';
import { FloatColumn } from './float-column.ts';
import { DISTRIBUTION_MEASURES } from './measures.ts';
import type { DistributionMeasure } from './measures.ts';

/** The measure with many values per request: its values are not held while the run lasts. */
export const PER_GAP_MEASURE = 'inter_chunk_latency';

/** How a request counts in the statistics: cancelled ones were given up by this side and are in no population. */
export type Standing = 'ok' | 'failed' | 'cancelled';

export function standingOf(record: RequestRecord): Standing {
  if (record.outcome === 'ok') return 'ok';
  return record.outcome === 'cancelled' ? 'cancelled' : 'failed';
}

/**
 * One number per measured request and measure, in the order in which the requests ended: about a hundred bytes per
 * request, whatever the length of its answer. A value that a request does not have is NaN here and in no statistic; a
 * failed request's is +Infinity.
 */
export class RequestColumns {
  readonly #sent_ns = new FloatColumn();
  readonly #end_ns = new FloatColumn();
  readonly #okEnd_ns = new FloatColumn();
  readonly #values = new Map<DistributionMeasure, FloatColumn>(
    DISTRIBUTION_MEASURES.filter(({ measure }) => measure !== PER_GAP_MEASURE).map((m) => [m, new FloatColumn()]),
  );

  append(record: RequestRecord): void {
    const standing = standingOf(record);
    this.#sent_ns.append(record.sent_ns);
    this.#end_ns.append(record.end_ns);
    if (standing === 'ok') this.#okEnd_ns.append(record.end_ns);
    for (const [measure, column] of this.#values) {
      if (standing === 'ok') column.append(measure.values(record)[0] ?? NaN);
      else column.append(standing === 'failed' ? Infinity : NaN);
    }
  }

  get length(): number {
    return this.#sent_ns.length;
  }

  get sent_ns(): Float64Array {
    return this.#sent_ns.toArray();
  }

  get end_ns(): Float64Array {
    return this.#end_ns.toArray();
  }

  /** Ends of the ok requests. */
  get okEnd_ns(): Float64Array {
    return this.#okEnd_ns.toArray();
  }

  /**
   * The measure's values over ok and failed requests, the failed ones +Infinity, in the order in which the requests were
   * sent; `order` is `startOrder()`.
   */
  allValues(measure: DistributionMeasure, order: Uint32Array): Float64Array {
    const column = this.#values.get(measure)?.toArray() ?? new Float64Array();
    return Float64Array.from(order, (row) => column[row] ?? NaN).filter((value) => !Number.isNaN(value));
  }

  /** The rows in the order in which their requests were sent. */
  startOrder(): Uint32Array {
    const sent = this.sent_ns;
    return Uint32Array.from(sent, (_, row) => row).sort((a, b) => (sent[a] ?? NaN) - (sent[b] ?? NaN));
  }
}
