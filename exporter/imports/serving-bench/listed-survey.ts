import { histogramDistribution } from '../../../core/measures/distribution-result.ts';
import { GapHistogram } from '../../../core/measures/chunk-reading.ts';
import type { DistributionResult, ResultFile } from '../../../core/run/result.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { ImportNotes } from '../import-notes.ts';
import { checkHistogram, checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import { exactStated, statedFacts, type ReportedStatistics, type StatedIdentity } from '../stated/stated-measures.ts';
import { chunkTimes_s, type ListedRequest, type RequestLists } from './request-lists.ts';

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
export type ContentTimes = (request: ListedRequest) => readonly number[] | null;

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
