import { FloatColumn } from '../../core/stats/float-column.ts';
import { inFlightStatistics } from '../../core/measures/in-flight.ts';
import type { StepStatistics } from '../../core/measures/in-flight.ts';
import { standingOf } from '../../core/measures/request-columns.ts';
import { type RequestRecord, ERROR_REASON_RULES } from '../../core/run/record.ts';
import { summarize, type Summary } from '../../core/stats/percentiles.ts';
import { AIPERF_METRICS } from './aiperf-metrics.ts';
import { AiperfSweeps } from './aiperf-sweeps.ts';
import type { SweepLine } from './aiperf-sweeps.ts';
import type { AiperfMetric } from './aiperf-metrics.ts';

/** A request that was given up carries this code in AIPerf's files. */
const CANCELLED = { code: 499, type: 'RequestCancellationError' };

export interface AiperfError {
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
