import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ParsedJson } from '../reading/json-text.ts';
import { JsonSplitter } from '../reading/long-json/json-splitter.ts';
import type { LongList } from '../reading/long-json/json-splitter.ts';
import { pythonError } from '../reading/python-error.ts';
import type { PythonError } from '../reading/python-error.ts';

/** What the parallel lists of a result report of one request; times in seconds. */
export interface ListedRequest {
  /** Its place in the lists. */
  readonly index: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** From the sending to the first chunk that the tool counts; null when there was none. */
  readonly first_s: number | null;
  /** Between the chunks that the tool counts. */
  readonly gaps_s: readonly number[];
  /** From the sending to the last chunk; null when the file does not report. */
  readonly latency_s: number | null;
  /** On a clock of the tool's own, which only differences of are of use; null when the file does not report. */
  readonly sent_s: number | null;
  /** How long it waited on the side of the tool before it was sent; null when the file does not report. */
  readonly queued_s: number | null;
  /** Why it failed; null when it is ok. */
  readonly failure: PythonError | null;
}

const NUMBERS = ['input_lens', 'output_lens', 'ttfts', 'latencies', 'start_times', 'queue_times'] as const;
type NumberList = (typeof NUMBERS)[number];
const GAPS = 'itls';
const ERRORS = 'errors';
/** Passed over, and never built. */
const TEXTS = 'generated_texts';

const LISTS = [...NUMBERS, GAPS, ERRORS, TEXTS] as const;
type ListName = (typeof LISTS)[number];

/** Texts of errors whose reason is remembered. */
const MAX_REMEMBERED = 1000;

/**
 * The parallel lists of a result of `vllm bench serve` or SGLang's `bench_serving`. What has one number per request is
 * kept (8 bytes each); the gaps between chunks, most of such a file, are read from it again whenever they are needed.
 */
export class RequestLists {
  readonly #content: () => AsyncIterable<Buffer>;
  readonly #columns: ReadonlyMap<string, FloatColumn>;
  readonly #failures: ReadonlyMap<number, PythonError>;
  readonly #lengths: ReadonlyMap<string, number>;

  constructor(
    content: () => AsyncIterable<Buffer>,
    columns: ReadonlyMap<string, FloatColumn>,
    failures: ReadonlyMap<number, PythonError>,
    lengths: ReadonlyMap<string, number>,
  ) {
    this.#content = content;
    this.#columns = columns;
    this.#failures = failures;
    this.#lengths = lengths;
  }

  has(name: ListName): boolean {
    return this.#lengths.has(name);
  }

  /** The numbers of a list; NaN for other values and negative ones. Null: there is no such list. */
  numbers(name: NumberList): Float64Array | null {
    return this.has(name) ? (this.#columns.get(name)?.toArray() ?? null) : null;
  }

  /** Whether they report of all requests; lists of unequal length, or of fewer than were ok, do not, which is noted. */
  areUsable(fields: Fields, notes: ImportNotes): boolean {
    // What is in the place of a list and is none has stayed in the document.
    for (const name of LISTS) fields.list(name);
    if (!this.has('ttfts') || !this.has(GAPS)) return false;
    const reported = LISTS.flatMap((name) =>
      name !== TEXTS && this.has(name) ? [[name, this.#lengths.get(name)]] : [],
    );
    if (new Set(reported.map(([, length]) => length)).size === 1) {
      const [listed, ok] = [this.#lengths.get('ttfts') ?? 0, fields.count('completed')];
      if (ok === null || listed >= ok) return true;
      notes.disagreement(`the lists hold ${listed} of ${ok} ok requests: only the summary is used`);
      return false;
    }
    const lengths = reported.map((each) => each.join(' ')).join(', ');
    notes.disagreement(`the lists of the requests are not of one length (${lengths}): only the summary is used`);
    return false;
  }

  /**
   * The requests in the order in which they were due, some at a time, read from the file. One with a value that cannot
   * be true is left out and counted. Only for lists that are usable.
   */
  async *requests(notes: ImportNotes): AsyncGenerator<readonly ListedRequest[]> {
    let index = 0;
    let found: ListedRequest[] = [];
    const take = (gaps: readonly unknown[]): void => {
      for (const each of gaps) {
        const request = this.#requestAt(index, each);
        if (request !== null) found.push(request);
        else notes.count('requests left out: a time or a count that cannot be true', `request ${index}`);
        index += 1;
      }
    };
    const splitter = new JsonSplitter(LISTS.map((name) => ({ path: [name], elements: name === GAPS ? take : null })));
    for await (const piece of this.#content()) {
      splitter.feed(piece);
      if (found.length > 0) yield found;
      found = [];
    }
    splitter.finish();
  }

  #requestAt(index: number, gaps: unknown): ListedRequest | null {
    const number = (name: NumberList): number | null =>
      this.has(name) ? (this.#columns.get(name)?.at(index) ?? NaN) : null;
    const first = number('ttfts') ?? NaN;
    const [input_tokens, output_tokens] = [number('input_lens'), number('output_lens')];
    const [latency_s, sent_s, queued_s] = [number('latencies'), number('start_times'), number('queue_times')];
    if ([first, input_tokens, output_tokens, latency_s, sent_s, queued_s].some(Number.isNaN)) return null;
    if (!Array.isArray(gaps) || !gaps.every(isAmount)) return null;
    // A refusal without a reason phrase leaves no error: only that nothing came reports it.
    const isSilent = first === 0 && (output_tokens ?? 0) === 0;
    const failure = this.#failures.get(index) ?? (isSilent ? pythonError('') : null);
    return {
      index,
      input_tokens,
      output_tokens: failure === null ? output_tokens : null,
      first_s: first === 0 && gaps.length === 0 ? null : first,
      gaps_s: gaps,
      latency_s,
      sent_s,
      queued_s,
      failure,
    };
  }
}

/**
 * The result that the bytes are: its lists of requests, and what it holds besides, in which these lists are empty.
 * Throws `JsonTextError` when it is no JSON.
 */
export async function readRequestLists(
  content: () => AsyncIterable<Buffer>,
): Promise<ParsedJson & { readonly lists: RequestLists }> {
  const columns = new Map<string, FloatColumn>(NUMBERS.map((name) => [name, new FloatColumn()]));
  const failures = new Map<number, PythonError>();
  const lengths = new Map<string, number>();
  const addErrors = errorReader(failures);
  const elementsOf = (name: ListName): LongList['elements'] => {
    if (name === ERRORS) return addErrors;
    const column = columns.get(name);
    return column === undefined
      ? null
      : (values) => {
          for (const value of values) column.append(isAmount(value) ? value : NaN);
        };
  };
  const splitter = new JsonSplitter(
    LISTS.map((name) => ({
      path: [name],
      elements: elementsOf(name),
      ended: (count) => void lengths.set(name, count),
    })),
  );
  for await (const piece of content()) splitter.feed(piece);
  return { ...splitter.finish(), lists: new RequestLists(content, columns, failures, lengths) };
}

/** Takes the texts of errors for their reasons; the texts are not kept. */
function errorReader(failures: Map<number, PythonError>): (values: readonly unknown[]) => void {
  const remembered = new Map<string, PythonError>();
  let index = 0;
  return (values) => {
    for (const value of values) {
      if (typeof value === 'string' && value !== '') {
        const failure = remembered.get(value) ?? pythonError(value);
        if (remembered.size < MAX_REMEMBERED) remembered.set(value, failure);
        failures.set(index, failure);
      }
      index += 1;
    }
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** When the chunks came, in seconds since the request was sent. */
export function chunkTimes_s({ first_s, gaps_s }: Pick<ListedRequest, 'first_s' | 'gaps_s'>): number[] {
  if (first_s === null) return [];
  const times = [first_s];
  let at = first_s;
  for (const gap of gaps_s) {
    at += gap;
    times.push(at);
  }
  return times;
}
