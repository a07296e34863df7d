import type { RequestRecord } from '../run/record.ts';
import { FloatColumn } from './float-column.ts';
import type { PerRequestMeasure } from './measures.ts';
import { figuresOf } from './request-figures.ts';
import type { RequestFigures } from './request-figures.ts';

/** How a request counts in the statistics: cancelled ones were given up by this side and are in no population. */
export type Standing = 'ok' | 'failed' | 'cancelled';

export function standingOf({ outcome }: Pick<RequestRecord, 'outcome'>): Standing {
  if (outcome === 'ok') return 'ok';
  return outcome === 'cancelled' ? 'cancelled' : 'failed';
}

const STANDINGS: readonly Standing[] = ['ok', 'failed', 'cancelled'];

type Nullable = 'first_content_ns' | 'second_content_ns' | 'last_content_ns' | 'connect_ns';
type Tokens = 'input_tokens' | 'output_tokens' | 'reasoning_tokens';

/**
 * The figures of the measured requests, in the order in which they ended: less than a hundred bytes per request, whatever
 * the length of its answer. What is not known is NaN here.
 */
export class RequestColumns {
  readonly #columns: Readonly<Record<keyof RequestFigures, FloatColumn>> = {
    due_ns: new FloatColumn(),
    sent_ns: new FloatColumn(),
    first_content_ns: new FloatColumn(),
    second_content_ns: new FloatColumn(),
    last_content_ns: new FloatColumn(),
    end_ns: new FloatColumn(),
    connect_ns: new FloatColumn(),
    input_tokens: new FloatColumn('single'),
    output_tokens: new FloatColumn('single'),
    reasoning_tokens: new FloatColumn('single'),
    content_chunks: new FloatColumn('single'),
  };
  readonly #standings = new FloatColumn('single');

  append(record: RequestRecord): void {
    const figures = figuresOf(record);
    for (const name in this.#columns) {
      const key = name as keyof RequestFigures;
      this.#columns[key].append(figures[key] ?? NaN);
    }
    this.#standings.append(STANDINGS.indexOf(standingOf(record)));
  }

  get length(): number {
    return this.#standings.length;
  }

  get sent_ns(): Float64Array {
    return this.#columns.sent_ns.toArray();
  }

  get end_ns(): Float64Array {
    return this.#columns.end_ns.toArray();
  }

  /** Ends of the ok requests. */
  get okEnd_ns(): Float64Array {
    return this.end_ns.filter((_, row) => this.#standing(row) === 'ok');
  }

  /**
   * The measure's values over ok and failed requests, the failed ones +Infinity, in the order in which the requests were
   * sent; `order` is `startOrder()`.
   */
  allValues(measure: PerRequestMeasure, order: Uint32Array): Float64Array {
    return Float64Array.from(order, (row) => this.#value(measure, row)).filter((value) => !Number.isNaN(value));
  }

  /** The rows in the order in which their requests were sent. */
  startOrder(): Uint32Array {
    const sent = this.sent_ns;
    return Uint32Array.from(sent, (_, row) => row).sort((a, b) => (sent[a] ?? NaN) - (sent[b] ?? NaN));
  }

  #standing(row: number): Standing | undefined {
    return STANDINGS[this.#standings.at(row)];
  }

  #value(measure: PerRequestMeasure, row: number): number {
    const standing = this.#standing(row);
    if (standing === 'ok') return measure.value(this.#figures(row)) ?? NaN;
    return standing === 'failed' ? Infinity : NaN;
  }

  #figures(row: number): RequestFigures {
    const columns = this.#columns;
    const known = (name: Nullable | Tokens): number | null => {
      const value = columns[name].at(row);
      return Number.isNaN(value) ? null : value;
    };
    return {
      due_ns: columns.due_ns.at(row),
      sent_ns: columns.sent_ns.at(row),
      first_content_ns: known('first_content_ns'),
      second_content_ns: known('second_content_ns'),
      last_content_ns: known('last_content_ns'),
      end_ns: columns.end_ns.at(row),
      connect_ns: known('connect_ns'),
      input_tokens: known('input_tokens'),
      output_tokens: known('output_tokens'),
      reasoning_tokens: known('reasoning_tokens'),
      content_chunks: columns.content_chunks.at(row),
    };
  }
}
