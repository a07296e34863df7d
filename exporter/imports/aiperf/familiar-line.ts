import type { RequestRecord } from '../../../core/run/record.ts';
import type { RecordsOrigin } from './records-origin.ts';
import { LineForm } from './line-form.ts';
import { BRACE_END, COLON, COMMA, hashOf, LineScanner, UNFAMILIAR } from './line-scanner.ts';

/** Metadata that are nanoseconds since 1970. */
const WALL_TIMES = ['credit_issued_ns', 'request_start_ns', 'request_end_ns'] as const;
/** Metrics in milliseconds. */
const TIMES = ['time_to_first_token', 'time_to_first_output_token', 'request_latency'] as const;
/** Metrics of any unit. */
const NUMBERS = [
  'usage_prompt_tokens',
  'usage_completion_tokens',
  'usage_reasoning_tokens',
  'usage_prompt_cache_read_tokens',
  'input_sequence_length',
  'output_sequence_length',
  'reasoning_token_count',
  'osl_mismatch_diff_pct',
] as const;
/** Metrics that a record is made of, beside the list of gaps. */
export const READ_METRICS = [...TIMES, ...NUMBERS] as const;

/** The values that a record is made of; the index is where each is kept, and what kind of value it is. */
const KEPT = [...WALL_TIMES, ...READ_METRICS] as const;
type Kept = (typeof KEPT)[number];
const SLOT_OF = Object.fromEntries(KEPT.map((name, slot) => [name, slot])) as Readonly<Record<Kept, number>>;
const FIRST_TIME = WALL_TIMES.length;
const FIRST_NUMBER = FIRST_TIME + TIMES.length;
/** The other kinds of values. */
const GAPS = KEPT.length;
const PHASE = GAPS + 1;
const NOT_NEEDED = PHASE + 1;

/** Hash of a key → the kind of its value. */
const kindsOf = (keys: readonly Kept[], other: string, kind: number): ReadonlyMap<number, number> =>
  new Map([...keys.map((key) => [hashOf(key), SLOT_OF[key]] as const), [hashOf(other), kind]]);
const METADATA = kindsOf(WALL_TIMES, 'benchmark_phase', PHASE);
const METRICS = kindsOf(READ_METRICS, 'inter_chunk_latency', GAPS);
const WAS_CANCELLED = hashOf('was_cancelled');

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
const BETWEEN = spelling('},"metrics":{', '}, "metrics": {');
const VALUE = spelling('{"value":', '{"value": ');
const MS = spelling(',"unit":"ms"}', ', "unit": "ms"}');
const UNIT = spelling(',"unit":', ', "unit": ');
const FALSE = encoded('false');

/**
 * Reads the lines that most of a `profile_export.jsonl` is made of, those of requests that went well, from their bytes:
 * several times as fast as making objects of them. The result is that of `recordOfLine`, which reads all other lines.
 */
export class FamiliarLines {
  readonly #line = new LineScanner();
  readonly #form = new LineForm();
  readonly #zeroSeconds: number;
  readonly #zeroRest_ns: number;
  readonly #usage: RecordsOrigin['usage'];
  #phase: RequestRecord['phase'] | null = null;
  /** By slot; NaN where the line has none. */
  readonly #values = new Float64Array(KEPT.length);
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
    try {
      this.#begin(bytes, from, to);
      if (!this.#readAlike()) {
        this.#begin(bytes, from, to);
        this.#readNew(bytes, from, to);
      }
      return this.#assembled(index);
    } catch (error) {
      if (error === UNFAMILIAR) return null;
      throw error;
    }
  }

  #begin(bytes: Uint8Array, from: number, to: number): void {
    this.#line.reset(bytes, from, to);
    this.#values.fill(NaN);
    this.#phase = this.#gaps = null;
  }

  /** Reads the values of a line of the known form; false when it has another one. */
  #readAlike(): boolean {
    const [line, form] = [this.#line, this.#form];
    const { count, starts, lengths, kinds, text } = form;
    for (let i = 0; i < count; i++) {
      if (!line.takesText(text, starts[i] as number, lengths[i] as number)) return false;
      if (i < count - 1) this.#value(kinds[i] as number);
    }
    return count > 0 && line.isAtEnd;
  }

  /** Reads a line whatever its form, and remembers that. */
  #readNew(bytes: Uint8Array, from: number, to: number): void {
    const [line, form] = [this.#line, this.#form];
    form.clear();
    try {
      this.#takeOne(OPENING);
      this.#metadata(from);
      this.#takeOne(BETWEEN);
      this.#metrics(from);
      line.expect(BRACE_END);
      if (!line.isAtEnd) throw UNFAMILIAR;
    } catch (error) {
      form.clear();
      throw error;
    }
    form.finish(bytes.subarray(from, to));
  }

  #takeOne({ compact, spaced }: Spelling): void {
    // The compact one may be the beginning of the other.
    if (!this.#line.takes(spaced) && !this.#line.takes(compact)) throw UNFAMILIAR;
  }

  #metadata(from: number): void {
    const line = this.#line;
    for (;;) {
      const key = line.stringHash();
      line.expect(COLON);
      if (key !== WAS_CANCELLED) this.#newValue(METADATA.get(key) ?? NOT_NEEDED, from);
      else if (!line.takes(FALSE)) throw UNFAMILIAR;
      if (line.peek() === BRACE_END) return;
      line.expect(COMMA);
    }
  }

  #metrics(from: number): void {
    const line = this.#line;
    for (;;) {
      const tag = line.stringHash();
      line.expect(COLON);
      this.#metric(tag, from);
      if (line.peek() === BRACE_END) {
        line.expect(BRACE_END);
        return;
      }
      line.expect(COMMA);
    }
  }

  #metric(tag: number, from: number): void {
    const line = this.#line;
    if (HTTP_TRACE.has(tag)) throw UNFAMILIAR;
    const kind = METRICS.get(tag) ?? NOT_NEEDED;
    this.#takeOne(VALUE);
    this.#newValue(kind, from);
    if (kind === GAPS || kind < FIRST_NUMBER) {
      this.#takeOne(MS);
      return;
    }
    this.#takeOne(UNIT);
    line.skipString();
    line.expect(BRACE_END);
  }

  #newValue(kind: number, from: number): void {
    // A key that the line has twice: it is read as JSON, which refuses it.
    if (this.#has(kind)) throw UNFAMILIAR;
    const line = this.#line;
    const start = line.at;
    this.#value(kind);
    this.#form.addValue(kind, start - from, line.at - from);
  }

  #has(kind: number): boolean {
    if (kind === PHASE) return this.#phase !== null;
    if (kind === GAPS) return this.#gaps !== null;
    return kind < KEPT.length && !Number.isNaN(this.#values[kind]);
  }

  /** Reads a value into its place. */
  #value(kind: number): void {
    const [line, values] = [this.#line, this.#values];
    if (kind === NOT_NEEDED) line.skipPlain();
    else if (kind === GAPS) this.#gaps = line.listOfMilliseconds_ns(this.#gaps_ns);
    else if (kind === PHASE) this.#phase = line.stringHash() === WARMUP ? 'warmup' : 'measure';
    else if (kind < FIRST_TIME) values[kind] = line.wallNanoseconds(this.#zeroSeconds, this.#zeroRest_ns);
    else if (kind < FIRST_NUMBER) values[kind] = line.milliseconds_ns();
    else values[kind] = line.number();
  }

  #valueOf(name: Kept): number | null {
    const value = this.#values[SLOT_OF[name]] as number;
    return Number.isNaN(value) ? null : value;
  }

  #assembled(index: number): RequestRecord | null {
    const [sent_ns, end_ns] = [this.#valueOf('request_start_ns'), this.#valueOf('request_end_ns')];
    if (sent_ns === null || end_ns === null) return null;
    const first = this.#valueOf('time_to_first_token');
    const firstOutput = this.#valueOf('time_to_first_output_token');
    const last = this.#valueOf('request_latency');
    const usage = this.#usage;
    const input = this.#tokens(usage.input ? 'usage_prompt_tokens' : 'input_sequence_length');
    const output = this.#tokens(usage.output ? 'usage_completion_tokens' : 'output_sequence_length');
    const reasoning = this.#tokens(usage.output ? 'usage_reasoning_tokens' : 'reasoning_token_count');
    const cached = this.#valueOf('usage_prompt_cache_read_tokens');
    return {
      index,
      phase: this.#phase ?? 'measure',
      due_ns: this.#valueOf('credit_issued_ns'),
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
      // Field by field: spreading the constants that have them costs more than reading a value.
      http_blocked_ns: null,
      http_dns_lookup_ns: null,
      http_connecting_ns: null,
      http_tls_handshaking_ns: null,
      http_sending_ns: null,
      http_waiting_ns: null,
      http_receiving_ns: null,
      http_data_sent_bytes: null,
      http_data_received_bytes: null,
      counted_input_tokens: null,
      counted_output_tokens: null,
      counted_reasoning_tokens: null,
    };
  }

  #tokens(name: Kept): number | null {
    const value = this.#valueOf(name);
    return value === null ? null : Math.round(value);
  }

  #requested(): number | null {
    const [length, missed] = [this.#valueOf('output_sequence_length'), this.#valueOf('osl_mismatch_diff_pct')];
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
