import type { RequestRecord } from '../run/record.ts';
import { ascendingOrder } from '../stats/percentiles.ts';
import { ascendingValues, DividedShelf, MemoryShelf, type BlockShelf } from './ascending-values.ts';
import type { PerRequestMeasure } from './measures.ts';
import { FIGURE_NAMES, figuresOf, type RequestFigures } from './request-figures.ts';

const AT = Object.fromEntries(FIGURE_NAMES.map((name, i) => [name, i])) as Record<keyof RequestFigures, number>;

/** The figures of one row after the other, read directly from the columns: no object is made per request. */
export class FigureRow implements RequestFigures {
  /** In the order of their names. */
  readonly #columns: readonly Float64Array[];
  row = 0;

  /** NaN is what is not known. */
  constructor(columns: readonly Float64Array[]) {
    this.#columns = columns;
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

  get audio_ns(): number | null {
    return this.#known(AT.audio_ns);
  }

  get audio_bytes(): number | null {
    return this.#known(AT.audio_bytes);
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
    return this.#columns[at]?.[this.row] ?? NaN;
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
const OK = STANDINGS.indexOf('ok');
const CANCELLED = STANDINGS.indexOf('cancelled');

/** The columns are the figures, in their order, and the standing. */
const STANDING_AT = FIGURE_NAMES.length;
const COLUMNS = FIGURE_NAMES.length + 1;
const BLOCK_ROWS = 4096;
/** Many runs have few requests: the columns begin small. Doubled some times, they have the rows of a block. */
const FIRST_ROWS = 32;
/** Of the blocks in which values are sorted. */
const SORTED_BLOCK_LENGTH = 32 * BLOCK_ROWS;

const SENT_AT = FIGURE_NAMES.indexOf('sent_ns');
const END_AT = FIGURE_NAMES.indexOf('end_ns');

/**
 * The figures of the measured requests, in the order in which they ended: a row of numbers per request, whatever the length
 * of its response. Full blocks of rows lie on a shelf, without the figures that none of them has. What is not known is NaN
 * here.
 */
export class RequestColumns {
  readonly #shelves: DividedShelf;
  readonly #shelf: BlockShelf;
  /** The names, by their places, of the columns in each block on the shelf. */
  readonly #shelved: (readonly number[])[] = [];
  /** Of the rows that are not on the shelf. */
  #columns: readonly Float64Array[] = Array.from({ length: COLUMNS }, () => new Float64Array(FIRST_ROWS));
  #rows = 0;

  /** Default: all stays in memory. */
  constructor(shelf: BlockShelf = new MemoryShelf()) {
    this.#shelves = new DividedShelf(shelf);
    this.#shelf = this.#shelves.part();
  }

  append(record: RequestRecord): void {
    const figures = figuresOf(record);
    const row = this.#rows % BLOCK_ROWS;
    if (row === this.#columns[STANDING_AT]?.length) this.#columns = this.#columns.map(doubled);
    for (let i = 0; i < FIGURE_NAMES.length; i++) {
      const column = this.#columns[i];
      if (column !== undefined) column[row] = figures[FIGURE_NAMES[i] ?? 'sent_ns'] ?? NaN;
    }
    const standings = this.#columns[STANDING_AT];
    if (standings !== undefined) standings[row] = STANDINGS.indexOf(standingOf(record));
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
    this.#eachBlock((columns, rows) => {
      const [standings, ends] = [columns[STANDING_AT], columns[END_AT]];
      for (let row = 0; row < rows; row++) if (standings?.[row] === OK && holds(ends?.[row] ?? NaN)) ended += 1;
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
   * Goes through the values of each measure over ok and failed requests, the failed ones +Infinity: those of one measure in
   * the order in which the requests ended.
   */
  eachValue(
    measures: readonly PerRequestMeasure[],
    visit: (measure: number, value: number, row: number, figures: FigureRow) => void,
  ): void {
    this.#eachBlock((columns, rows, first) => {
      const figures = new FigureRow(columns);
      const standings = columns[STANDING_AT];
      for (let i = 0; i < measures.length; i++) {
        const measure = measures[i];
        for (let row = 0; row < rows; row++) {
          const standing = standings?.[row];
          if (standing === CANCELLED) continue;
          figures.row = row;
          const value = standing === OK ? (measure?.value(figures) ?? NaN) : Infinity;
          if (!Number.isNaN(value)) visit(i, value, first + row, figures);
        }
      }
    });
  }

  /** Goes through the requests in the order in which they ended; `figures` are another request's after the visit. */
  eachRequest(visit: (standing: Standing, figures: FigureRow) => void): void {
    this.#eachBlock((columns, rows) => {
      const figures = new FigureRow(columns);
      for (let row = 0; row < rows; row++) {
        const standing = STANDINGS[columns[STANDING_AT]?.[row] ?? NaN];
        figures.row = row;
        if (standing !== undefined) visit(standing, figures);
      }
    });
  }

  /** The rows in the order in which their requests were sent. */
  startOrder(): Uint32Array {
    const sent_ns = new Float64Array(this.#rows);
    let row = 0;
    this.#each(SENT_AT, (value) => (sent_ns[row++] = value));
    return ascendingOrder(sent_ns);
  }

  #shelve(): void {
    const known = this.#columns.flatMap((column, i) => (column.every(Number.isNaN) ? [] : [i]));
    const block = new Float64Array(known.length * BLOCK_ROWS);
    known.forEach((i, place) => block.set(this.#columns[i] ?? [], place * BLOCK_ROWS));
    this.#shelf.put(block);
    this.#shelved.push(known);
  }

  #inOrder(at: number, sortedAtOnce?: number): Iterable<number> {
    const each = (visit: (value: number) => void): void => this.#each(at, visit);
    return ascendingValues({ length: this.#rows, each }, this.#shelves.part(), SORTED_BLOCK_LENGTH, sortedAtOnce);
  }

  #each(at: number, visit: (value: number) => void): void {
    this.#eachBlock((columns, rows) => {
      const column = columns[at];
      for (let row = 0; row < rows; row++) visit(column?.[row] ?? NaN);
    });
  }

  #eachBlock(visit: (columns: readonly Float64Array[], rows: number, first: number) => void): void {
    this.#shelved.forEach((known, n) => {
      const block = this.#shelf.block(n);
      const columns = new Array<Float64Array>(COLUMNS).fill(UNKNOWN);
      known.forEach((i, place) => (columns[i] = block.subarray(place * BLOCK_ROWS, (place + 1) * BLOCK_ROWS)));
      visit(columns, BLOCK_ROWS, n * BLOCK_ROWS);
    });
    const first = this.#shelved.length * BLOCK_ROWS;
    visit(this.#columns, this.#rows - first, first);
  }
}

function doubled(column: Float64Array): Float64Array {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}

/** A column of which nothing is known. */
const UNKNOWN = new Float64Array(BLOCK_ROWS).fill(NaN);

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
