import { histogramDistribution } from '../../../core/measures/distribution-result.ts';
import { GapHistogram } from '../../../core/measures/chunk-reading.ts';
import type { DistributionResult, ResultFile } from '../../../core/run/result.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { ImportNotes } from '../import-notes.ts';
import { checkHistogram, checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import { exactStated, statedFacts, type ReportedStatistics, type StatedIdentity } from '../stated/stated-measures.ts';
import type { Fields } from '../reading/fields.ts';
import type { ParsedJson } from '../reading/json-text.ts';
import { JsonSplitter, type LongList } from '../reading/long-json/json-splitter.ts';
import { pythonError, type PythonError } from '../reading/python-error.ts';

/** Above this many gaps (16 MB, and as much again to sort them) they are counted in a fine histogram. */
const MAX_EXACT = 2_000_000;
const NS_PER_SECOND = 1e9;

/** The gaps between chunks of many requests, seconds: exact up to two million, above from a histogram with bounds. */
export class GapValues {
  #exact: FloatColumn | null = new FloatColumn();
  readonly #histogram = new GapHistogram();
  readonly #mostExact: number;

  constructor(mostExact: number = MAX_EXACT) {
    this.#mostExact = mostExact;
  }

  append(gap_s: number): void {
    this.#histogram.observe(Math.round(gap_s * NS_PER_SECOND));
    if (this.#exact === null) return;
    if (this.#exact.length < this.#mostExact) this.#exact.append(gap_s);
    else this.#exact = null;
  }

  /** Their statistics; null without any. */
  stated(identity: StatedIdentity): DistributionResult | null {
    if (this.#exact !== null) return exactStated(identity, this.#exact.toArray());
    return histogramDistribution(statedFacts(identity), this.#histogram);
  }

  /** Notes where what a file reports of them is not what they give. */
  check(what: string, reported: ReportedStatistics, notes: ImportNotes): void {
    if (this.#exact !== null) checkStatistics(what, reported, this.#exact.toArray(), NUMPY_LINEAR, notes);
    else checkHistogram(what, reported, this.#histogram, notes);
  }
}

/** When the chunks with content came, in seconds since the request was sent; null when the file does not report. */
type ContentTimes = (request: ListedRequest) => readonly number[] | null;

/** The latencies of requests from the times of their chunks, seconds, in the order in which they were due. */
class LatencyValues {
  /** To the first chunk. */
  readonly ttft = new FloatColumn();
  /** From the first chunk to the last, for each token after the first; of requests that have a second. */
  readonly tpot = new FloatColumn();
  /** Between the chunks. */
  readonly itl = new GapValues();
  /** To the last chunk. */
  readonly e2el = new FloatColumn();

  /** `times_s`: of the chunks, since the request was sent; a request without a chunk has no latency. */
  add(times_s: readonly number[], outputTokens: number | null): void {
    const [first] = times_s;
    const last = times_s.at(-1);
    if (first === undefined || last === undefined) return;
    this.ttft.append(first);
    this.e2el.append(last);
    if (outputTokens !== null && outputTokens > 1) this.tpot.append((last - first) / (outputTokens - 1));
    for (let i = 1; i < times_s.length; i++) this.itl.append((times_s[i] ?? NaN) - (times_s[i - 1] ?? NaN));
  }
}

/** What the requests of a result come to, from one reading of their lists. */
export class ListedSurvey {
  /** How many can be true, and how many of them are ok. */
  requests = 0;
  ok = 0;
  readonly errors: Partial<Record<keyof ResultFile['errors'], number>> = {};
  /** Of the ok requests, by all chunks that the tool counts. */
  readonly byChunk = new LatencyValues();
  /** Of the ok requests, by the chunks with content; those of `byChunk` where the file does not report. */
  readonly byContent: LatencyValues;
  readonly input_tokens = new FloatColumn();
  readonly output_tokens = new FloatColumn();
  /** Ok requests whose latency the file reports. */
  withLatency = 0;
  /** Requests whose time of sending the file reports, and when the first of them was due, on the tool's clock. */
  withTime = 0;
  earliest_s = Infinity;
  /** Requests whose last chunk holds no content. */
  closingChunks = 0;
  /** Ok requests that came in more than one piece, and those of at most one token, which come in one anyhow. */
  inPieces = 0;
  ofOneToken = 0;
  /** Ok requests of fewer tokens than gaps between their chunks: of the chunks, one at most is without a token. */
  tooFewTokens = 0;
  /** Of the ok requests. */
  chunks = 0;
  readonly #contentTimes: ContentTimes | null;

  constructor(contentTimes: ContentTimes | null) {
    this.#contentTimes = contentTimes;
    this.byContent = contentTimes === null ? this.byChunk : new LatencyValues();
  }

  add(request: ListedRequest): void {
    const { failure, sent_s, queued_s } = request;
    this.requests += 1;
    if (sent_s !== null) {
      this.withTime += 1;
      this.earliest_s = Math.min(this.earliest_s, sent_s - (queued_s ?? 0));
    }
    if (failure === null) this.#addOk(request);
    else this.errors[failure.reason] = (this.errors[failure.reason] ?? 0) + 1;
  }

  /** Whether each request reports when it was sent: without that there are no records. */
  get isTimed(): boolean {
    return this.requests > 0 && this.withTime === this.requests;
  }

  /** Whether any response came in more than one piece; one token comes in one piece anyhow. */
  get isStreamed(): boolean {
    return this.inPieces > 0 || this.ofOneToken === this.ok;
  }

  #addOk(request: ListedRequest): void {
    const { input_tokens, output_tokens, gaps_s, latency_s } = request;
    this.ok += 1;
    if (input_tokens !== null) this.input_tokens.append(input_tokens);
    if (output_tokens !== null) this.output_tokens.append(output_tokens);
    if (latency_s !== null) this.withLatency += 1;
    if (gaps_s.length > 0) this.inPieces += 1;
    if ((output_tokens ?? 0) < 2) this.ofOneToken += 1;
    if (output_tokens !== null && output_tokens < gaps_s.length) this.tooFewTokens += 1;
    const times = chunkTimes_s(request);
    this.chunks += times.length;
    this.byChunk.add(times, output_tokens);
    if (this.#contentTimes === null) return;
    const content = this.#contentTimes(request) ?? times;
    if (content.length < times.length) this.closingChunks += 1;
    this.byContent.add(content, output_tokens);
  }
}

/** The survey of a result's requests; null when its lists report of none. What reading the file throws. */
export async function surveyOf(
  lists: RequestLists,
  contentTimes: ContentTimes | null,
  notes: ImportNotes,
): Promise<ListedSurvey> {
  const survey = new ListedSurvey(contentTimes);
  for await (const requests of lists.requests(notes)) for (const request of requests) survey.add(request);
  return survey;
}

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
