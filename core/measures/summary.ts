import type { ErrorReason, Outcome, RequestRecord } from '../run/record.ts';
import type { GoodputLimit } from '../run/objectives.ts';
import type { ConversationCounts, DistributionResult, MeasureResult, ScalarResult, TimeSlices } from '../run/result.ts';
import { ChunkReading, GapHistogram } from './chunk-reading.ts';
import type { BlockShelf } from './ascending-values.ts';
import {
  asAll,
  exactDistribution,
  exactGaps,
  histogramDistribution,
  summedDistribution,
  INTERVALS_UP_TO,
} from './distribution-result.ts';
import { FullLoad } from './in-flight.ts';
import { goodputResults, goodRequest } from './goodput.ts';
import { PassedSummary } from '../stats/passed-summary.ts';
import { PERCENTILE_NAMES, PERCENTILES } from '../stats/percentiles.ts';
import { DISTRIBUTION_MEASURES, HTTP_MEASURES, INTER_CHUNK_LATENCY } from './measures.ts';
import type { DistributionMeasure, PerRequestMeasure } from './measures.ts';
import { ConversationTally, TURN_MEASURES } from './conversations.ts';
import { RequestColumns, standingOf } from './request-columns.ts';
import { comparedTokens } from './request-figures.ts';
import { scalarResults } from './scalar-results.ts';
import type { RunTotals } from './scalar-results.ts';
import { timeSlices } from './time-slices.ts';
import { isUsageDiscrepant, USAGE_CHECK_MEASURES, usageDiscrepancyResult } from './usage-check.ts';
import { fractionBelow } from '../histogram/bounds.ts';

/** Above this many gaps their percentiles come from the fine histogram: 40 MB is what holding them may take. */
export const EXACT_GAPS_LIMIT = 10_000_000;

/** Latencies that a failed request never came to the end of: over `all` requests it counts as infinitely slow. */
export const ENDLESS_WHEN_FAILED: ReadonlySet<string> = new Set([
  'time_to_first_token',
  'time_to_first_output_token',
  'time_to_second_token',
  'inter_token_latency',
  'request_latency',
]);

/** So many measures are taken from the same passes over the figures. */
const MEASURES_PER_PASSES = 5;

const PERCENTILE_VALUES = PERCENTILE_NAMES.map((name) => PERCENTILES[name]);

export interface SummaryOptions {
  /** How many requests the load keeps in flight; null when it does not plan a number (request rate, trace). */
  readonly plannedConcurrency: number | null;
  /** What a request must keep to be good; absent or empty: goodput is not reported. */
  readonly goodput?: readonly GoodputLimit[];
  /** Default `EXACT_GAPS_LIMIT`. */
  readonly exactGapsLimit?: number;
  /** Of more requests than these no value is held; default `INTERVALS_UP_TO`. */
  readonly heldUpTo?: number;
  /** Where the requests' figures lie; default: in memory. */
  readonly shelf?: BlockShelf;
  /** The only measures that are reported, and nothing of conversations; absent: all. */
  readonly only?: ReadonlySet<string>;
  /** Whether the measure phase is divided into slices: `steady` looks for changes of the level in them too. */
  readonly slices?: 'steady' | 'changing';
}

/** What `result.json` says of a run's measure phase. */
export interface PhaseSummary {
  /** Ns since the run's start: the first request sent, the end of the last; null without requests. */
  readonly window: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly requests: Readonly<Record<Outcome, number>>;
  readonly errors: Readonly<Partial<Record<ErrorReason, number>>>;
  readonly measures: readonly MeasureResult[];
  /** What a reader must know about the origin of the figures, one line each. */
  readonly notes: readonly string[];
  /** Null without conversations. */
  readonly conversations: ConversationCounts | null;
  /** Null when they were not requested, or the run is too short. */
  readonly slices: TimeSlices | null;
}

/**
 * Summarizes a run from its records as they come, in any order: some 100 bytes per measured request go to the shelf, nothing
 * per chunk. Warm-up requests are passed over.
 *
 * What needs every chunk (exact percentiles of the gaps, tokens at full load) comes from a second reading:
 * `summary.chunkReading()`, `add` each record of the file to it, `summary.summarize(reading)`. Without one the gaps'
 * percentiles come from a fine histogram and carry bounds, and the tokens at full load are null.
 */
export class SummaryAccumulator {
  readonly #options: SummaryOptions;
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  readonly #columns: RequestColumns;
  readonly #gaps = new GapHistogram();
  readonly #isGood: (record: RequestRecord) => boolean;
  #good = 0;
  readonly #conversations: ConversationTally | null;
  #traced = false;
  #hasTurns = false;
  #fullLoadOfAll: FullLoad | null = null;
  #start_ns = Infinity;
  #end_ns = -Infinity;
  #inFlight_ns = 0;
  #inputTokens: number | null = 0;
  #outputTokens: number | null = 0;
  #documents: number | null = 0;
  #images: number | null = 0;
  #cached = { requests: 0, cached: 0, prompt: 0 };
  #requestedOutputTokens: number | null = 0;
  #outputLengths = { mismatched: 0, known: 0 };
  #counted = false;
  #discrepancies = 0;
  #connections = { reused: 0, known: 0 };

  constructor(options: SummaryOptions) {
    this.#options = options;
    this.#columns = new RequestColumns(options.shelf);
    this.#isGood = goodRequest(options.goodput ?? []);
    this.#conversations = options.only === undefined ? new ConversationTally() : null;
  }

  add(record: RequestRecord): void {
    if (record.phase !== 'measure') return;
    this.#requests[record.outcome] += 1;
    if (record.reason !== null) this.#errors[record.reason] = (this.#errors[record.reason] ?? 0) + 1;
    this.#start_ns = Math.min(this.#start_ns, record.sent_ns);
    this.#end_ns = Math.max(this.#end_ns, record.end_ns);
    this.#inFlight_ns += record.end_ns - record.sent_ns;
    this.#columns.append(record);
    this.#traced ||= record.http_blocked_ns !== null;
    this.#hasTurns ||= record.turn != null;
    this.#conversations?.add(record);
    if (record.connection_reused !== null) {
      this.#connections.known += 1;
      if (record.connection_reused) this.#connections.reused += 1;
    }
    if (standingOf(record) === 'ok') this.#addOk(record);
  }

  get requests(): Readonly<Record<Outcome, number>> {
    return this.#requests;
  }

  /** What the second reading of the records is to be collected in. */
  chunkReading(): ChunkReading {
    return new ChunkReading(this.#exactGaps ? this.#gaps.n : null, this.#fullLoad());
  }

  /** Whether anything depends on a second reading: else `summarize` gives the same without it. */
  get needsChunks(): boolean {
    return (this.#exactGaps && this.#gaps.n > 0) || this.#options.plannedConcurrency !== null;
  }

  get #exactGaps(): boolean {
    return this.#gaps.n <= (this.#options.exactGapsLimit ?? EXACT_GAPS_LIMIT);
  }

  summarize(chunks: ChunkReading | null): PhaseSummary {
    return this.#summaryWith([...this.#distributions(chunks)].flat(), chunks);
  }

  /** The same in steps, so that a process can do other things (answer a scrape) in the `pause` between two of them. */
  async summarizeInSteps(chunks: ChunkReading | null, pause: () => Promise<void>): Promise<PhaseSummary> {
    const distributions: DistributionResult[] = [];
    for (const some of this.#distributions(chunks)) {
      distributions.push(...some);
      await pause();
    }
    return this.#summaryWith(distributions, chunks);
  }

  #summaryWith(distributions: readonly DistributionResult[], chunks: ChunkReading | null): PhaseSummary {
    const empty = this.#columns.length === 0;
    const medianGap = distributions.find(({ measure }) => measure === INTER_CHUNK_LATENCY.measure)?.percentiles.p50
      .value;
    const { only } = this.#options;
    const conversations = this.#conversations?.isEmpty === false ? this.#conversations : null;
    const measures = [
      ...distributions,
      ...(conversations?.results() ?? []),
      ...scalarResults(this.#totals(chunks, medianGap ?? null)),
      ...this.#usageCheck(),
      ...this.#goodput(),
    ];
    return {
      window: empty ? null : { start_ns: this.#start_ns, end_ns: this.#end_ns },
      requests: { ...this.#requests },
      errors: { ...this.#errors },
      measures: only === undefined ? measures : measures.filter(({ measure }) => only.has(measure)),
      notes: this.#gapNotes(chunks),
      conversations: conversations?.counts ?? null,
      slices: this.#slices(distributions),
    };
  }

  #slices(distributions: readonly DistributionResult[]): TimeSlices | null {
    const { slices } = this.#options;
    if (slices === undefined || this.#columns.length === 0) return null;
    const latency = distributions.find(
      ({ measure, clock, population }) => measure === 'request_latency' && clock === 'sent' && population === 'ok',
    );
    return timeSlices(
      this.#columns,
      { start_ns: this.#start_ns, end_ns: this.#end_ns },
      {
        ok: this.#requests.ok,
        medianLatency: latency?.percentiles.p50.value ?? null,
        hasOneLoad: slices === 'steady',
      },
    );
  }

  #addOk(record: RequestRecord): void {
    if (this.#isGood(record)) this.#good += 1;
    this.#inputTokens = added(this.#inputTokens, record.input_tokens);
    this.#outputTokens = added(this.#outputTokens, record.output_tokens);
    this.#documents = added(this.#documents, record.documents ?? null);
    this.#images = added(this.#images, record.images ?? null);
    this.#requestedOutputTokens = added(this.#requestedOutputTokens, record.requested_output_tokens);
    const mismatched = isLengthMismatched(record);
    if (mismatched !== null) this.#outputLengths.known += 1;
    if (mismatched === true) this.#outputLengths.mismatched += 1;
    const discrepant = isUsageDiscrepant(comparedTokens(record));
    this.#counted ||= discrepant !== null;
    if (discrepant === true) this.#discrepancies += 1;
    if (record.cached_tokens !== null && record.input_tokens !== null) {
      this.#cached.requests += 1;
      this.#cached.cached += record.cached_tokens;
      this.#cached.prompt += record.input_tokens;
    }
    const offsets = record.chunk_offsets_ns;
    for (let i = 1; i < offsets.length; i++) this.#gaps.observe((offsets[i] ?? NaN) - (offsets[i - 1] ?? NaN));
  }

  #usageCheck(): ScalarResult[] {
    return this.#counted ? [usageDiscrepancyResult(this.#discrepancies)] : [];
  }

  #goodput(): ScalarResult[] {
    const { goodput = [] } = this.#options;
    if (goodput.length === 0) return [];
    const { ok, error, timeout } = this.#requests;
    const windowSeconds = this.#columns.length === 0 ? null : (this.#end_ns - this.#start_ns) * 1e-9;
    return goodputResults(goodput, { good: this.#good, requests: ok + error + timeout, windowSeconds });
  }

  /** Call it when all records have come. */
  #fullLoad(): FullLoad | null {
    const planned = this.#options.plannedConcurrency;
    if (planned === null) return null;
    const { heldUpTo } = this.#options;
    this.#fullLoadOfAll ??= new FullLoad(
      this.#columns.sentInOrder(heldUpTo),
      this.#columns.endsInOrder(heldUpTo),
      planned,
    );
    return this.#fullLoadOfAll;
  }

  /** The results of one measure after the other. */
  *#distributions(chunks: ChunkReading | null): Generator<DistributionResult[]> {
    const measures = [
      ...DISTRIBUTION_MEASURES,
      ...(this.#counted ? USAGE_CHECK_MEASURES : []),
      ...(this.#traced ? HTTP_MEASURES : []),
      ...(this.#hasTurns ? TURN_MEASURES : []),
    ].filter(({ measure }) => this.#options.only?.has(measure) !== false);
    if (this.#columns.length > (this.#options.heldUpTo ?? INTERVALS_UP_TO)) {
      yield* this.#passedDistributions(measures, chunks);
      return;
    }
    const order = this.#columns.startOrder();
    for (const measure of measures) {
      if (isPerRequest(measure)) yield this.#perRequest(measure, this.#columns.valuesOf(measure, order));
      else yield [this.#gapDistribution(measure, chunks)];
    }
  }

  /** The same of so many requests that not even one measure's values are held. */
  *#passedDistributions(
    measures: readonly DistributionMeasure[],
    chunks: ChunkReading | null,
  ): Generator<DistributionResult[]> {
    const perRequest = measures.filter(isPerRequest);
    const summaries = new Map<DistributionMeasure, PassedSummary>();
    for (const measure of measures) {
      if (!isPerRequest(measure)) {
        yield [this.#gapDistribution(measure, chunks)];
        continue;
      }
      if (!summaries.has(measure)) {
        summaries.clear();
        const from = perRequest.indexOf(measure);
        const some = perRequest
          .slice(from, from + MEASURES_PER_PASSES)
          .map((each) => [each, new PassedSummary()] as const);
        for (const [each, summary] of some) summaries.set(each, summary);
        while (!some.every(([, summary]) => summary.done)) {
          this.#columns.eachValue(
            some.map(([each]) => each),
            (i, value) => some[i]?.[1].add(value),
          );
          for (const [, summary] of some) summary.endPass();
          yield [];
        }
      }
      const summary = summaries.get(measure);
      const ok = summedDistribution(measure, 'ok', summary?.finite ?? null);
      const endless = ENDLESS_WHEN_FAILED.has(measure.measure);
      const all = this.#isUnmeasured(ok.n ?? 0) ? null : (summary?.all ?? null);
      yield endless ? [ok, summedDistribution(measure, 'all', all)] : [ok];
    }
  }

  #gapDistribution(measure: DistributionMeasure, chunks: ChunkReading | null): DistributionResult {
    const ordered = chunks?.gapsInStartOrder() ?? null;
    if (ordered !== null) return exactDistribution(measure, 'ok', ordered);
    const percentiles = chunks?.gapPercentiles(PERCENTILE_VALUES) ?? null;
    return percentiles === null
      ? histogramDistribution(measure, this.#gaps)
      : exactGaps(measure, this.#gaps, percentiles);
  }

  #perRequest(measure: PerRequestMeasure, all: Float64Array): DistributionResult[] {
    const ok = finiteOf(all);
    const okResult = exactDistribution(measure, 'ok', ok);
    if (!ENDLESS_WHEN_FAILED.has(measure.measure)) return [okResult];
    const isSame = ok.length === all.length || this.#isUnmeasured(ok.length);
    return [okResult, isSame ? asAll(okResult) : exactDistribution(measure, 'all', all)];
  }

  /** Whether a latency is unknown of each ok request: then the failed ones alone are no distribution of it. */
  #isUnmeasured(known: number): boolean {
    return known === 0 && this.#requests.ok > 0;
  }

  #totals(chunks: ChunkReading | null, medianGap: number | null): RunTotals {
    const fullLoad = this.#fullLoad();
    return {
      ok: this.#requests.ok,
      failed: this.#requests.error + this.#requests.timeout,
      windowSeconds: this.#columns.length === 0 ? null : (this.#end_ns - this.#start_ns) * 1e-9,
      outputTokens: this.#outputTokens,
      documents: this.#documents,
      images: this.#images,
      inputTokens: this.#inputTokens,
      cachedInput: this.#cached.requests === 0 ? null : this.#cached,
      requestedOutputTokens: this.#requestedOutputTokens,
      outputLengths: this.#outputLengths,
      connections: this.#connections,
      stallRatio: stallRatio(medianGap, chunks, this.#gaps),
      requestSeconds: this.#inFlight_ns * 1e-9,
      fullLoad: fullLoad && {
        seconds: fullLoad.seconds,
        okEnded: this.#columns.okEnded((end_ns) => fullLoad.holds(end_ns)),
        outputTokens: chunks?.okRequests === this.#requests.ok ? chunks.tokensAtFullLoad : null,
      },
    };
  }

  #gapNotes(chunks: ChunkReading | null): string[] {
    if (this.#gaps.n === 0 || chunks?.complete === true) return [];
    const limit = this.#options.exactGapsLimit ?? EXACT_GAPS_LIMIT;
    const why = this.#exactGaps ? 'the records could not be read a second time' : `the run has more than ${limit} gaps`;
    return [`${INTER_CHUNK_LATENCY.measure}: percentiles are estimates with bounds from a histogram, because ${why}`];
  }
}

function isPerRequest(measure: DistributionMeasure): measure is PerRequestMeasure {
  return measure.value !== null;
}

/** The values of the ok requests: those of the failed ones are infinite. The same array when there are no others. */
function finiteOf(values: Float64Array): Float64Array {
  let finite = 0;
  for (const value of values) if (Number.isFinite(value)) finite += 1;
  if (finite === values.length) return values;
  const kept = new Float64Array(finite);
  let at = 0;
  for (const value of values) if (Number.isFinite(value)) kept[at++] = value;
  return kept;
}

/** One unknown makes the sum unknown: leaving it out would understate. */
function added(sum: number | null, value: number | null): number | null {
  return sum === null || value === null ? null : sum + value;
}

/** A response misses the requested length when it is off by more than the smaller of these, as in AIPerf. */
const MISMATCH_RATIO = 0.05;
const MISMATCH_TOKENS = 50;

/** Whether a response misses the length requested; null when one of the two is not known. */
function isLengthMismatched({
  output_tokens: output,
  requested_output_tokens: requested,
}: Pick<RequestRecord, 'output_tokens' | 'requested_output_tokens'>): boolean | null {
  if (output === null || requested === null || requested === 0) return null;
  return Math.abs(output - requested) > Math.min(MISMATCH_RATIO * requested, MISMATCH_TOKENS);
}

/** A gap is a stall when it is longer than so many median gaps of the run. */
const STALL_FACTOR = 5;

/**
 * The share of the gaps between chunks in which a stream stood still: those longer than five times the median gap. Exact
 * from the chunks, else from the histogram (whose buckets are less than 0.8 % wide). Null without gaps, and when the
 * median is 0: then chunks share time stamps, and stalls are unknown.
 */
function stallRatio(medianGapSeconds: number | null, chunks: ChunkReading | null, gaps: GapHistogram) {
  if (medianGapSeconds === null || medianGapSeconds <= 0) return null;
  const limit = STALL_FACTOR * medianGapSeconds;
  const longer = chunks?.gapsLongerThan(limit) ?? null;
  if (longer !== null) return longer / gaps.n;
  const below = fractionBelow(limit, gaps.toClassic());
  return below === null ? null : 1 - below.estimate;
}
