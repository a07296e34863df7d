import { curveStatistics, quotient, StepSum, type StepStatistics } from '../../core/measures/in-flight.ts';
import type { RequestRecord } from '../../core/run/record.ts';

const NS_PER_SECOND = 1e9;

/** Each gap takes 48 bytes until the end: above this many the sweep lines are not calculated. */
const MAX_GAPS = 1_000_000;

/** The time-weighted statistics of one of AIPerf's sweep lines. */
export interface SweepLine {
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
export class AiperfSweeps {
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
