import { NOT_COUNTED, NOT_TRACED } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { RecordsOrigin } from './records-origin.ts';
import { BRACE_END, COLON, COMMA, hashOf, LineScanner, UNFAMILIAR } from './line-scanner.ts';

/** Metrics that a record is made of, beside the list of gaps. */
export const READ_METRICS = [
  'time_to_first_token',
  'time_to_first_output_token',
  'request_latency',
  'usage_prompt_tokens',
  'usage_completion_tokens',
  'usage_reasoning_tokens',
  'usage_prompt_cache_read_tokens',
  'input_sequence_length',
  'output_sequence_length',
  'reasoning_token_count',
  'osl_mismatch_diff_pct',
] as const;
type ReadMetric = (typeof READ_METRICS)[number];

/** Hash of a metric's name → where its value is kept. */
const SLOTS: ReadonlyMap<number, number> = new Map(READ_METRICS.map((tag, slot) => [hashOf(tag), slot]));
const SLOT_OF = Object.fromEntries(READ_METRICS.map((tag, slot) => [tag, slot])) as Readonly<
  Record<ReadMetric, number>
>;
/** Those in milliseconds come first. */
const TIMES = 3;
const GAPS = hashOf('inter_chunk_latency');

/** Metrics of the HTTP trace that a record has: lines with them are read as JSON. */
const HTTP_TRACE: ReadonlySet<number> = new Set(
  [
    'blocked',
    'dns_lookup',
    'connecting',
    'connection_reused',
    'sending',
    'waiting',
    'receiving',
    'data_sent',
    'data_received',
  ].map((part) => hashOf(`http_req_${part}`)),
);

const METADATA = {
  credit_issued_ns: hashOf('credit_issued_ns'),
  request_start_ns: hashOf('request_start_ns'),
  request_end_ns: hashOf('request_end_ns'),
  benchmark_phase: hashOf('benchmark_phase'),
  was_cancelled: hashOf('was_cancelled'),
} as const;

const WARMUP = hashOf('warmup');
const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

/** With and without the spaces of Python's json. */
interface Spelling {
  readonly compact: Uint8Array;
  readonly spaced: Uint8Array;
}

const spelling = (compact: string, spaced: string): Spelling => ({
  compact: encoded(compact),
  spaced: encoded(spaced),
});

const OPENING = spelling('{"metadata":{', '{"metadata": {');
const METRICS = spelling('},"metrics":{', '}, "metrics": {');
const VALUE = spelling('{"value":', '{"value": ');
const MS = spelling(',"unit":"ms"}', ', "unit": "ms"}');
const UNIT = spelling(',"unit":', ', "unit": ');
const FALSE = encoded('false');
const NULL = encoded('null');

/**
 * Reads the lines that most of a `profile_export.jsonl` is made of, those of requests that went well, from their bytes:
 * several times as fast as making objects of them. The result is that of `recordOfLine`, which reads all other lines.
 */
export class FamiliarLines {
  readonly #line = new LineScanner();
  readonly #zeroSeconds: number;
  readonly #zeroRest_ns: number;
  readonly #usage: RecordsOrigin['usage'];
  #phase: RequestRecord['phase'] | null = null;
  #due_ns: number | null = null;
  #sent_ns: number | null = null;
  #end_ns: number | null = null;
  /** By slot; NaN where the line has none. */
  readonly #values = new Float64Array(READ_METRICS.length);
  /** Used again for every line; the first `#gaps` of them are of this one. */
  readonly #gaps_ns: number[] = [];
  #gaps: number | null = null;

  constructor({ zero_ns, usage }: RecordsOrigin) {
    this.#usage = usage;
    this.#zeroSeconds = Number(zero_ns / 1_000_000_000n);
    this.#zeroRest_ns = Number(zero_ns % 1_000_000_000n);
  }

  /** The record of a line; null: it is of another form and must be read as JSON. */
  record(bytes: Uint8Array, from: number, to: number, index: number): RequestRecord | null {
    if (to >= bytes.length) return null;
    this.#line.reset(bytes, from, to);
    this.#phase = this.#due_ns = this.#sent_ns = this.#end_ns = this.#gaps = null;
    this.#values.fill(NaN);
    try {
      this.#takeOne(OPENING);
      this.#metadata();
      this.#takeOne(METRICS);
      this.#metrics();
      this.#line.expect(BRACE_END);
    } catch (error) {
      if (error === UNFAMILIAR) return null;
      throw error;
    }
    return this.#line.isAtEnd ? this.#assembled(index) : null;
  }

  #takeOne({ compact, spaced }: Spelling): void {
    // The compact one may be the beginning of the other.
    if (!this.#line.takes(spaced) && !this.#line.takes(compact)) throw UNFAMILIAR;
  }

  /** A key that the line has twice: it is read as JSON, which refuses it. */
  #isFirst(value: unknown): void {
    if (value !== null) throw UNFAMILIAR;
  }

  #metadata(): void {
    const line = this.#line;
    for (;;) {
      const key = line.stringHash();
      line.expect(COLON);
      this.#metadatum(key);
      if (line.peek() === BRACE_END) return;
      line.expect(COMMA);
    }
  }

  #metadatum(key: number): void {
    const line = this.#line;
    switch (key) {
      case METADATA.credit_issued_ns:
        this.#isFirst(this.#due_ns);
        this.#due_ns = line.wallNanoseconds(this.#zeroSeconds, this.#zeroRest_ns);
        return;
      case METADATA.request_start_ns:
        this.#isFirst(this.#sent_ns);
        this.#sent_ns = line.wallNanoseconds(this.#zeroSeconds, this.#zeroRest_ns);
        return;
      case METADATA.request_end_ns:
        this.#isFirst(this.#end_ns);
        this.#end_ns = line.wallNanoseconds(this.#zeroSeconds, this.#zeroRest_ns);
        return;
      case METADATA.benchmark_phase:
        this.#isFirst(this.#phase);
        this.#phase = line.stringHash() === WARMUP ? 'warmup' : 'measure';
        return;
      case METADATA.was_cancelled:
        if (!line.takes(FALSE)) throw UNFAMILIAR;
        return;
      default:
        if (!line.takes(NULL)) line.skipPlain();
    }
  }

  #metrics(): void {
    const line = this.#line;
    for (;;) {
      const tag = line.stringHash();
      line.expect(COLON);
      this.#metric(tag);
      if (line.peek() === BRACE_END) {
        line.expect(BRACE_END);
        return;
      }
      line.expect(COMMA);
    }
  }

  #metric(tag: number): void {
    const line = this.#line;
    this.#takeOne(VALUE);
    if (tag === GAPS) {
      this.#isFirst(this.#gaps);
      this.#gaps = line.listOfMilliseconds_ns(this.#gaps_ns);
      this.#takeOne(MS);
      return;
    }
    const slot = SLOTS.get(tag);
    if (slot !== undefined && !Number.isNaN(this.#values[slot])) throw UNFAMILIAR;
    if (slot !== undefined && slot < TIMES) {
      this.#values[slot] = line.milliseconds_ns();
      this.#takeOne(MS);
      return;
    }
    // What is no number for its value is not looked at unless a record needs it.
    if (slot === undefined && HTTP_TRACE.has(tag)) throw UNFAMILIAR;
    if (slot === undefined) line.skipPlain();
    else this.#values[slot] = line.number();
    this.#takeOne(UNIT);
    line.skipString();
    line.expect(BRACE_END);
  }

  #value(tag: ReadMetric): number | null {
    const value = this.#values[SLOT_OF[tag]] as number;
    return Number.isNaN(value) ? null : value;
  }

  #assembled(index: number): RequestRecord | null {
    const [sent_ns, end_ns] = [this.#sent_ns, this.#end_ns];
    if (sent_ns === null || end_ns === null) return null;
    const first = this.#value('time_to_first_token');
    const firstOutput = this.#value('time_to_first_output_token');
    const last = this.#value('request_latency');
    const usage = this.#usage;
    const input = this.#tokens(usage.input ? 'usage_prompt_tokens' : 'input_sequence_length');
    const output = this.#tokens(usage.output ? 'usage_completion_tokens' : 'output_sequence_length');
    const reasoning = this.#tokens(usage.output ? 'usage_reasoning_tokens' : 'reasoning_token_count');
    const cached = this.#value('usage_prompt_cache_read_tokens');
    return {
      index,
      phase: this.#phase ?? 'measure',
      due_ns: this.#due_ns,
      sent_ns,
      first_content_ns: first === null ? null : sent_ns + first,
      first_output_ns: firstOutput === null ? null : sent_ns + firstOutput,
      last_content_ns: last === null ? end_ns : sent_ns + last,
      end_ns,
      connection_reused: null,
      connect_ns: null,
      connection_retried: null,
      outcome: 'ok',
      reason: null,
      http_status: null,
      input_tokens: input,
      input_tokens_source: input === null ? null : usage.input ? 'usage' : 'tokenizer',
      output_tokens: output,
      output_tokens_source: output === null ? null : usage.output ? 'usage' : 'tokenizer',
      reasoning_tokens: reasoning,
      cached_tokens: cached === null ? null : Math.round(cached),
      requested_output_tokens: this.#requested(),
      chunk_offsets_ns: this.#offsets(first),
      ...NOT_TRACED,
      ...NOT_COUNTED,
    };
  }

  #tokens(tag: ReadMetric): number | null {
    const value = this.#value(tag);
    return value === null ? null : Math.round(value);
  }

  #requested(): number | null {
    const [length, missed] = [this.#value('output_sequence_length'), this.#value('osl_mismatch_diff_pct')];
    return length === null || missed === null || missed <= -100 ? null : Math.round(length / (1 + missed / 100));
  }

  #offsets(first: number | null): number[] {
    const [count, gaps] = [this.#gaps, this.#gaps_ns];
    if (first === null || count === null) return [];
    const offsets = new Array<number>(count + 1);
    let at = first;
    offsets[0] = at;
    for (let i = 0; i < count; i++) offsets[i + 1] = at += gaps[i] as number;
    return offsets;
  }
}
