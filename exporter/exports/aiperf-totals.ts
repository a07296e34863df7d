import { FloatColumn } from '../../core/stats/float-column.ts';
import {
  inFlightStatistics,
  type StepStatistics,
  curveStatistics,
  quotient,
  StepSum,
} from '../../core/measures/in-flight.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import { type RequestRecord, ERROR_REASON_RULES } from '../../core/run/record.ts';
import { summarize, type Summary } from '../../core/stats/percentiles.ts';
import { AIPERF_METRICS, type AiperfMetric } from './aiperf-metrics.ts';

/** A request that was given up carries this code in AIPerf's files. */
const CANCELLED = { code: 499, type: 'RequestCancellationError' };

interface AiperfError {
  /** HTTP status; null when there was no response. */
  readonly code: number | null;
  readonly type: string;
  readonly message: string;
}

/** Why a request is not ok, as AIPerf's files have it; null when it is. */
function aiperfError({ reason, http_status }: RequestRecord): AiperfError | null {
  if (reason === null) return null;
  const message = ERROR_REASON_RULES[reason];
  return reason === 'cancelled' ? { ...CANCELLED, message } : { code: http_status, type: reason, message };
}

export type TokenSum =
  'input' | 'output' | 'plain' | 'reasoning' | 'usagePrompt' | 'usageCompletion' | 'usageReasoning' | 'usageCached';

/** What AIPerf's summary contains and result.json does not, from the records of the measure phase. */
export class AiperfTotals {
  readonly #columns = new Map<AiperfMetric, FloatColumn>(
    AIPERF_METRICS.filter(({ measure }) => measure === null).map((metric) => [metric, new FloatColumn()]),
  );
  readonly #sent_ns = new FloatColumn();
  readonly #first_ns = new FloatColumn();
  readonly #end_ns = new FloatColumn();
  readonly #sweeps = new AiperfSweeps();
  readonly #errors = new Map<string, { error: AiperfError; count: number }>();
  readonly #tokens: Record<TokenSum, number | null> = {
    input: 0,
    output: 0,
    plain: 0,
    reasoning: 0,
    usagePrompt: 0,
    usageCompletion: 0,
    usageReasoning: 0,
    usageCached: 0,
  };
  readonly #errorInputs = new FloatColumn();
  readonly #sendLags_ms = new FloatColumn();
  #from_ns = Infinity;
  #to_ns = -Infinity;
  #streamed = false;

  add(record: RequestRecord): void {
    if (record.phase !== 'measure') return;
    this.#from_ns = Math.min(this.#from_ns, record.sent_ns);
    this.#to_ns = Math.max(this.#to_ns, record.end_ns);
    const error = aiperfError(record);
    if (error !== null) this.#addError(error);
    if (standingOf(record) === 'failed' && record.counted_input_tokens !== null) {
      this.#errorInputs.append(record.counted_input_tokens);
    }
    if (standingOf(record) === 'ok') this.#addOk(record);
  }

  /** The statistics of a metric that none of our measures is. */
  summary(metric: AiperfMetric): Summary | null {
    return summarize(this.#columns.get(metric)?.toArray() ?? new Float64Array());
  }

  get errors(): readonly { readonly error: AiperfError; readonly count: number }[] {
    return [...this.#errors.values()];
  }

  /** Sum over the ok requests; null when one of them does not report. */
  tokens(sum: TokenSum): number | null {
    return this.#tokens[sum];
  }

  /** Input tokens of the failed requests, as they were counted here; empty when they were not. */
  get errorInputs(): Float64Array {
    return this.#errorInputs.toArray();
  }

  /** How much later than due the ok requests were sent, over the least of it: AIPerf's lag of a replayed schedule. */
  get sendLags_ms(): Float64Array {
    const lags = this.#sendLags_ms.toArray();
    const least = lags.reduce((low, lag) => Math.min(low, lag), Infinity);
    return lags.map((lag) => lag - least);
  }

  /** From the first request sent to the end of the last, ns since the run's start; null without requests. */
  get window(): { readonly from_ns: number; readonly to_ns: number } | null {
    return this.#to_ns >= this.#from_ns ? { from_ns: this.#from_ns, to_ns: this.#to_ns } : null;
  }

  /** Ok requests in flight: whole, before their first chunk (prefill), after it (decode). Null without such. */
  concurrency(part: 'all' | 'prefill' | 'decode', from_ns: number, to_ns: number): StepStatistics | null {
    if (part !== 'all' && !this.#streamed) return null;
    const starts = part === 'decode' ? this.#first_ns : this.#sent_ns;
    const ends = part === 'prefill' ? this.#first_ns : this.#end_ns;
    return inFlightStatistics(starts.toArray(), ends.toArray(), from_ns, to_ns);
  }

  /** AIPerf's sweep lines of throughput and tokens in flight. */
  sweeps(from_ns: number, to_ns: number): SweepLine[] {
    return this.#sweeps.between(from_ns, to_ns);
  }

  #addError(error: AiperfError): void {
    const key = `${error.code} ${error.type}`;
    const found = this.#errors.get(key);
    if (found === undefined) this.#errors.set(key, { error, count: 1 });
    else found.count += 1;
  }

  #addOk(record: RequestRecord): void {
    for (const [{ value }, column] of this.#columns) {
      const found = value(record);
      if (found !== null) column.append(found);
    }
    this.#sent_ns.append(record.sent_ns);
    this.#first_ns.append(record.first_content_ns ?? record.end_ns);
    this.#end_ns.append(record.end_ns);
    this.#streamed ||= record.chunk_offsets_ns.length > 1;
    this.#sweeps.add(record);
    if (record.due_ns !== null) this.#sendLags_ms.append((record.sent_ns - record.due_ns) / 1e6);
    this.#addTokens(record);
  }

  #addTokens(record: RequestRecord): void {
    const { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning } = record;
    this.#count('input', input);
    this.#count('output', output);
    this.#count('reasoning', reasoning);
    this.#count('plain', output === null || reasoning === null ? null : output - reasoning);
    this.#count('usageReasoning', record.output_tokens_source === 'usage' ? reasoning : null);
    this.#count('usageCached', record.cached_tokens);
    this.#count('usagePrompt', record.input_tokens_source === 'usage' ? input : null);
    this.#count('usageCompletion', record.output_tokens_source === 'usage' ? output : null);
  }

  /** One unknown makes the sum unknown. */
  #count(sum: TokenSum, tokens: number | null): void {
    const before = this.#tokens[sum];
    this.#tokens[sum] = before === null || tokens === null ? null : before + tokens;
  }
}

const NS_PER_SECOND = 1e9;

/** Each gap takes 48 bytes until the end: above this many the sweep lines are not calculated. */
const MAX_GAPS = 1_000_000;

/** The time-weighted statistics of one of AIPerf's sweep lines. */
interface SweepLine {
  readonly tag: string;
  readonly header: string;
  readonly unit: string;
  readonly statistics: StepStatistics;
}

/**
 * AIPerf's sweep lines of throughput and of tokens in flight, from the ok requests: while a request is prefilled its input
 * tokens are spread evenly over its time to the first chunk, while it decodes each gap has its share of the output tokens
 * but the first. `effective_…` is over the whole window, `active_…` over the time in which that phase has a request.
 */
class AiperfSweeps {
  readonly #prefill = new StepSum();
  readonly #decode = new StepSum();
  readonly #total = new StepSum();
  readonly #tokensInFlight = new StepSum();
  readonly #inPrefill = new StepSum();
  readonly #inDecode = new StepSum();
  readonly #inFlight = new StepSum();
  #gaps = 0;

  /** An ok request of the measure phase. */
  add(record: RequestRecord): void {
    const { sent_ns: sent, first_content_ns: first, end_ns: end, chunk_offsets_ns: offsets } = record;
    this.#gaps += Math.max(0, offsets.length - 1);
    if (first === null || this.#gaps > MAX_GAPS) return;
    this.#inFlight.add(sent, end, 1);
    this.#inPrefill.add(sent, first, 1);
    this.#inDecode.add(first, end, 1);
    this.#addPrefill(record, first);
    this.#addDecode(record, first);
    this.#addTokensInFlight(record, first);
  }

  /** Within the window; empty when no response came in chunks, or there were too many of them. */
  between(from_ns: number, to_ns: number): SweepLine[] {
    if (this.#gaps === 0 || this.#gaps > MAX_GAPS) return [];
    const [prefill, decode, total] = [this.#prefill.curve(), this.#decode.curve(), this.#total.curve()];
    const [inPrefill, inDecode] = [this.#inPrefill.curve(), this.#inDecode.curve()];
    const phases = [
      ['prefill_throughput', 'Prefill Throughput', 'tokens/sec', prefill, inPrefill],
      ['decode_throughput', 'Decode Throughput', 'tokens/sec', decode, inDecode],
      ['total_throughput', 'Total Throughput', 'tokens/sec', total, this.#inFlight.curve()],
      ...(
        [
          ['prefill_throughput_per_user', 'Prefill Throughput Per User', prefill, inPrefill],
          ['decode_throughput_per_user', 'Decode Throughput Per User', decode, inDecode],
        ] as const
      ).map(([tag, header, curve, users]) => [tag, header, 'tokens/sec/user', quotient(curve, users), users] as const),
    ] as const;
    const sweep = (tag: string, header: string, unit: string, statistics: StepStatistics | null): SweepLine[] =>
      statistics === null ? [] : [{ tag, header, unit, statistics }];
    const tokens = curveStatistics(this.#tokensInFlight.curve(), from_ns, to_ns);
    return [
      ...phases.flatMap(([tag, header, unit, curve, users]) => [
        ...sweep(`effective_${tag}`, `Effective ${header}`, unit, curveStatistics(curve, from_ns, to_ns)),
        ...sweep(`active_${tag}`, `Active ${header}`, unit, curveStatistics(curve, from_ns, to_ns, users)),
      ]),
      ...sweep('tokens_in_flight', 'Tokens In Flight', 'tokens', tokens),
    ];
  }

  #addPrefill({ sent_ns: sent, input_tokens: tokens }: RequestRecord, first: number): void {
    if (tokens === null || first <= sent) return;
    const rate = (tokens / (first - sent)) * NS_PER_SECOND;
    this.#prefill.add(sent, first, rate);
    this.#total.add(sent, first, rate);
  }

  #addDecode(record: RequestRecord, first: number): void {
    const { sent_ns: sent, end_ns: end, output_tokens: tokens, chunk_offsets_ns: offsets } = record;
    if (tokens === null || tokens < 1) return;
    if (end > first) this.#total.add(first, end, ((tokens - 1) / (end - first)) * NS_PER_SECOND);
    const lasting = offsets.filter((offset, i) => i > 0 && offset > (offsets[i - 1] ?? NaN)).length;
    offsets.forEach((offset, i) => {
      const before = offsets[i - 1];
      if (before === undefined || offset <= before) return;
      const rate = ((tokens - 1) / lasting / (offset - before)) * NS_PER_SECOND;
      this.#decode.add(sent + before, sent + offset, rate);
    });
  }

  /** The first chunk is taken for one token, the others share the rest; all are held until the end. */
  #addTokensInFlight(record: RequestRecord, first: number): void {
    const { sent_ns: sent, end_ns: end, chunk_offsets_ns: offsets } = record;
    const input = first > sent ? (record.input_tokens ?? 0) : 0;
    const output = offsets.length > 1 && (record.output_tokens ?? 0) >= 1 ? (record.output_tokens ?? 0) : 0;
    this.#tokensInFlight.add(sent, end, input);
    if (output === 0) return;
    this.#tokensInFlight.add(first, end, 1);
    const share = (output - 1) / (offsets.length - 1);
    for (const offset of offsets.slice(1)) this.#tokensInFlight.change(Math.min(sent + offset, end), share);
    this.#tokensInFlight.change(end, 1 - output);
  }
}
