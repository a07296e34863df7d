import type { RequestRecord } from '../run/record.ts';
import { ascendingOrder } from '../stats/select.ts';
import { ascendingValues, DividedShelf, MemoryShelf, type BlockShelf } from './ascending-values.ts';
import type { PerRequestMeasure } from './measures.ts';
import { FIGURE_NAMES, figuresOf, type RequestFigures } from './request-figures.ts';

const AT = Object.fromEntries(FIGURE_NAMES.map((name, i) => [name, i])) as Record<keyof RequestFigures, number>;

/** The figures of one row after the other, read directly from the block: no object is made per request. */
export class FigureRow implements RequestFigures {
  #block: Float64Array = new Float64Array();
  #start = 0;

  /** `start` is where the row begins; its figures are in the order of their names, NaN is what is not known. */
  moveTo(block: Float64Array, start: number): void {
    this.#block = block;
    this.#start = start;
  }

  get due_ns(): number | null {
    return this.#known(AT.due_ns);
  }

  get sent_ns(): number {
    return this.#figure(AT.sent_ns);
  }

  get first_content_ns(): number | null {
    return this.#known(AT.first_content_ns);
  }

  get second_content_ns(): number | null {
    return this.#known(AT.second_content_ns);
  }

  get first_output_ns(): number | null {
    return this.#known(AT.first_output_ns);
  }

  get last_content_ns(): number | null {
    return this.#known(AT.last_content_ns);
  }

  get end_ns(): number {
    return this.#figure(AT.end_ns);
  }

  get connect_ns(): number | null {
    return this.#known(AT.connect_ns);
  }

  get input_tokens(): number | null {
    return this.#known(AT.input_tokens);
  }

  get output_tokens(): number | null {
    return this.#known(AT.output_tokens);
  }

  get reasoning_tokens(): number | null {
    return this.#known(AT.reasoning_tokens);
  }

  get cached_tokens(): number | null {
    return this.#known(AT.cached_tokens);
  }

  get requested_output_tokens(): number | null {
    return this.#known(AT.requested_output_tokens);
  }

  get think_ns(): number | null {
    return this.#known(AT.think_ns);
  }

  get tool_ns(): number | null {
    return this.#known(AT.tool_ns);
  }

  get planned_ns(): number | null {
    return this.#known(AT.planned_ns);
  }

  get image_tokens(): number | null {
    return this.#known(AT.image_tokens);
  }

  get audio_tokens(): number | null {
    return this.#known(AT.audio_tokens);
  }

  get images(): number | null {
    return this.#known(AT.images);
  }

  get image_bytes(): number | null {
    return this.#known(AT.image_bytes);
  }

  get request_bytes(): number | null {
    return this.#known(AT.request_bytes);
  }

  get counted_input_tokens(): number | null {
    return this.#known(AT.counted_input_tokens);
  }

  get counted_output_tokens(): number | null {
    return this.#known(AT.counted_output_tokens);
  }

  get counted_reasoning_tokens(): number | null {
    return this.#known(AT.counted_reasoning_tokens);
  }

  get content_chunks(): number {
    return this.#figure(AT.content_chunks);
  }

  get http_blocked_ns(): number | null {
    return this.#known(AT.http_blocked_ns);
  }

  get http_dns_lookup_ns(): number | null {
    return this.#known(AT.http_dns_lookup_ns);
  }

  get http_connecting_ns(): number | null {
    return this.#known(AT.http_connecting_ns);
  }

  get http_tls_handshaking_ns(): number | null {
    return this.#known(AT.http_tls_handshaking_ns);
  }

  get http_sending_ns(): number | null {
    return this.#known(AT.http_sending_ns);
  }

  get http_waiting_ns(): number | null {
    return this.#known(AT.http_waiting_ns);
  }

  get http_receiving_ns(): number | null {
    return this.#known(AT.http_receiving_ns);
  }

  #figure(at: number): number {
    return this.#block[this.#start + at] ?? NaN;
  }

  #known(at: number): number | null {
    const value = this.#figure(at);
    return Number.isNaN(value) ? null : value;
  }
}

/** How a request counts in the statistics: cancelled ones were given up by this side and are in no population. */
export type Standing = 'ok' | 'failed' | 'cancelled';

export function standingOf({ outcome }: Pick<RequestRecord, 'outcome'>): Standing {
  if (outcome === 'ok') return 'ok';
  return outcome === 'cancelled' ? 'cancelled' : 'failed';
}

const STANDINGS: readonly Standing[] = ['ok', 'failed', 'cancelled'];

/** A row is the figures, in their order, and the standing. */
const STANDING_AT = FIGURE_NAMES.length;
const ROW_LENGTH = FIGURE_NAMES.length + 1;
const BLOCK_ROWS = 4096;
const BLOCK_LENGTH = BLOCK_ROWS * ROW_LENGTH;

const SENT_AT = FIGURE_NAMES.indexOf('sent_ns');
const END_AT = FIGURE_NAMES.indexOf('end_ns');

/**
 * The figures of the measured requests, in the order in which they ended: a row of numbers per request, whatever the length
 * of its response. Full blocks of rows lie on a shelf. What is not known is NaN here.
 */
export class RequestColumns {
  readonly #shelves: DividedShelf;
  /** The rows. */
  readonly #shelf: BlockShelf;
  #shelved = 0;
  #block = new Float64Array(BLOCK_LENGTH);
  #rows = 0;

  /** Default: all stays in memory. */
  constructor(shelf: BlockShelf = new MemoryShelf()) {
    this.#shelves = new DividedShelf(shelf);
    this.#shelf = this.#shelves.part();
  }

  append(record: RequestRecord): void {
    const figures = figuresOf(record);
    const start = (this.#rows % BLOCK_ROWS) * ROW_LENGTH;
    for (let i = 0; i < FIGURE_NAMES.length; i++) this.#block[start + i] = figures[FIGURE_NAMES[i] ?? 'sent_ns'] ?? NaN;
    this.#block[start + STANDING_AT] = STANDINGS.indexOf(standingOf(record));
    this.#rows += 1;
    if (this.#rows % BLOCK_ROWS === 0) this.#shelve();
  }

  get length(): number {
    return this.#rows;
  }

  /** When requests were sent, ascending; at most `sortedAtOnce` in memory. To be called when all have been appended. */
  sentInOrder(sortedAtOnce?: number): Iterable<number> {
    return this.#inOrder(SENT_AT, sortedAtOnce);
  }

  /** When they ended: see `sentInOrder`. */
  endsInOrder(sortedAtOnce?: number): Iterable<number> {
    return this.#inOrder(END_AT, sortedAtOnce);
  }

  /** How many ok requests ended at a moment for which `holds`. */
  okEnded(holds: (end_ns: number) => boolean): number {
    let ended = 0;
    this.#eachRow((block, start) => {
      if (STANDINGS[block[start + STANDING_AT] ?? NaN] === 'ok' && holds(block[start + END_AT] ?? NaN)) ended += 1;
    });
    return ended;
  }

  /**
   * The values of a measure over ok and failed requests, the failed ones +Infinity, in the order in which the requests were
   * sent; `order` is `startOrder()`.
   */
  valuesOf(measure: PerRequestMeasure, order: Uint32Array): Float64Array {
    const column = new Float64Array(this.#rows).fill(NaN);
    this.eachValue([measure], (_measure, value, row) => (column[row] = value));
    return knownInOrder(column, order);
  }

  /**
   * Goes through the values of each measure over ok and failed requests, the failed ones +Infinity, in the order in which the
   * requests ended.
   */
  eachValue(
    measures: readonly PerRequestMeasure[],
    visit: (measure: number, value: number, row: number) => void,
  ): void {
    const figures = new FigureRow();
    this.#eachRow((block, start, row) => {
      const standing = STANDINGS[block[start + STANDING_AT] ?? NaN];
      if (standing === 'cancelled') return;
      figures.moveTo(block, start);
      for (let i = 0; i < measures.length; i++) {
        const value = standing === 'ok' ? (measures[i]?.value(figures) ?? NaN) : Infinity;
        if (!Number.isNaN(value)) visit(i, value, row);
      }
    });
  }

  /** The rows in the order in which their requests were sent. */
  startOrder(): Uint32Array {
    const sent_ns = new Float64Array(this.#rows);
    this.#eachRow((block, start, row) => (sent_ns[row] = block[start + SENT_AT] ?? NaN));
    return ascendingOrder(sent_ns);
  }

  #shelve(): void {
    this.#shelf.put(this.#block);
    this.#shelved += 1;
    this.#block = new Float64Array(BLOCK_LENGTH);
  }

  #inOrder(at: number, sortedAtOnce?: number): Iterable<number> {
    const each = (visit: (value: number) => void): void =>
      this.#eachRow((block, start) => visit(block[start + at] ?? NaN));
    return ascendingValues({ length: this.#rows, each }, this.#shelves.part(), BLOCK_LENGTH, sortedAtOnce);
  }

  #eachRow(visit: (block: Float64Array, start: number, row: number) => void): void {
    for (let n = 0; n <= this.#shelved; n++) {
      const block = n < this.#shelved ? this.#shelf.block(n) : this.#block;
      const first = n * BLOCK_ROWS;
      const rows = Math.min(BLOCK_ROWS, this.#rows - first);
      for (let i = 0; i < rows; i++) visit(block, i * ROW_LENGTH, first + i);
    }
  }
}

function knownInOrder(column: Float64Array, order: Uint32Array): Float64Array {
  const values = new Float64Array(column.length);
  let known = 0;
  for (const row of order) {
    const value = column[row] ?? NaN;
    if (Number.isNaN(value)) continue;
    values[known] = value;
    known += 1;
  }
  return known === values.length ? values : values.slice(0, known);
}
