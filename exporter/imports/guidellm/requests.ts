import { FloatColumn } from '../../../core/stats/float-column.ts';
import type { PhaseName, RequestRecord, TokenSource } from '../../../core/run/record.ts';
import { UNREPORTED } from '../importer.ts';
import { isObject } from '../reading/fields.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { howEnded, pythonError, type PythonError } from '../reading/python-error.ts';
import { wallInstant } from '../reading/wall-time.ts';

/** What a report reports of one request, whatever its version; times in seconds since 1970. */
export interface GuideRequest {
  readonly status: 'successful' | 'incomplete' | 'errored';
  readonly sent_s: number;
  readonly end_s: number;
  readonly first_s: number | null;
  /** The first token that is not reasoning. */
  readonly first_output_s: number | null;
  readonly last_s: number | null;
  /** When the schedule wanted it. */
  readonly due_s: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  /** Number of its turn, from 1. */
  readonly turn: number | null;
  /** Why it failed; null when it is ok. */
  readonly failure: PythonError | null;
}

const STATUSES = ['successful', 'incomplete', 'errored'] as const;

type Members = Readonly<Record<string, unknown>>;

/** A request of a report; null when it does not report when it was sent and when it ended. Its texts are not read. */
function guideRequest(value: unknown, status: GuideRequest['status']): GuideRequest | null {
  if (!isObject(value)) return null;
  const info = value['info'];
  const request = isObject(info) ? ofTimings(value, info, status) : ofFlatTimes(value, status);
  const { sent_s, end_s } = request;
  // One time of another clock among them would put all others out of reach.
  return sent_s !== null && end_s !== null && isTimeOfDay(sent_s) && isTimeOfDay(end_s)
    ? { ...request, sent_s, end_s }
    : null;
}

function isTimeOfDay(time_s: number): boolean {
  return wallInstant(time_s * 1000) !== null;
}

type Timed = Omit<GuideRequest, 'sent_s' | 'end_s'> & Record<'sent_s' | 'end_s', number | null>;

/** From 0.4 on. */
function ofTimings(request: Members, info: Members, status: GuideRequest['status']): Timed {
  const time = (...names: readonly string[]): number | null => firstNumber(membersOf(info, 'timings'), names);
  const [input, output] = [membersOf(request, 'input_metrics'), membersOf(request, 'output_metrics')];
  return {
    status,
    sent_s: time('request_start', 'resolve_start'),
    end_s: time('request_end', 'resolve_end'),
    first_s: time('first_token_iteration', 'first_iteration'),
    first_output_s: time('first_output_token_iteration'),
    last_s: time('last_token_iteration', 'last_iteration'),
    due_s: time('targeted_start'),
    input_tokens: count(input, 'total_tokens'),
    // Not `output_tokens`, which counts chunks where the server reported no tokens.
    output_tokens: count(output, 'total_tokens'),
    cached_tokens: count(input, 'cached_tokens'),
    turn: turnOf(info),
    failure: failureOf(status, info),
  };
}

/** Up to 0.3. */
function ofFlatTimes(request: Members, status: GuideRequest['status']): Timed {
  const time = (name: string): number | null => firstNumber(request, [name]);
  return {
    status,
    sent_s: time('start_time'),
    end_s: time('end_time'),
    first_s: time('first_token_time'),
    first_output_s: null,
    last_s: time('last_token_time'),
    due_s: firstNumber(membersOf(request, 'scheduler_info'), ['targeted_start_time']),
    input_tokens: count(request, 'prompt_tokens'),
    output_tokens: count(request, 'output_tokens'),
    cached_tokens: null,
    turn: null,
    failure: failureOf(status, request),
  };
}

/** What was not complete when the benchmark ended was given up by the tool. */
function failureOf(status: GuideRequest['status'], { error }: Members): PythonError | null {
  if (status === 'successful') return null;
  if (status === 'incomplete') return { reason: 'cancelled', http_status: null };
  return pythonError(typeof error === 'string' ? error : '');
}

function turnOf(info: Members): number | null {
  const index = count(info, 'turn_index');
  return index === null ? null : index + 1;
}

function membersOf(parent: Members, name: string): Members {
  const found = parent[name];
  return isObject(found) ? found : {};
}

/** The first of the names under which there is a finite number. */
function firstNumber(members: Members, names: readonly string[]): number | null {
  const values = names.map((name) => members[name]);
  return values.find((value): value is number => typeof value === 'number' && Number.isFinite(value)) ?? null;
}

function count(members: Members, name: string): number | null {
  const value = firstNumber(members, [name]);
  return value !== null && Number.isInteger(value) && value >= 0 ? value : null;
}

const NUMBERS = [
  'sent_s',
  'end_s',
  'first_s',
  'first_output_s',
  'last_s',
  'due_s',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'turn',
] as const satisfies readonly (keyof GuideRequest)[];

/**
 * The requests of a benchmark, 88 bytes each: their texts, most of a report, are discarded when they have been read.
 */
export class GuideRequests implements Iterable<GuideRequest> {
  readonly #columns = NUMBERS.map((name) => ({ name, values: new FloatColumn() }));
  readonly #status = new FloatColumn('single');
  readonly #failures = new Map<number, PythonError>();
  readonly #seen = new Map<string, number>();
  #leftOut = 0;
  #firstLeftOut = '';
  /** The kind of request that the first ok one reports; null when it does not. Up to 0.5 each does. */
  kind: string | null = null;
  /** Whether some request is a later turn: without one each request is of its own. */
  hasTurns = false;

  get size(): number {
    return this.#status.length;
  }

  /** Takes some of the requests of a status, in their order; those of no known status are none. */
  add(status: string, values: readonly unknown[]): void {
    const known = STATUSES.find((each) => each === status);
    if (known === undefined) return;
    for (const value of values) this.#add(known, value);
  }

  at(index: number): GuideRequest {
    const numbers = this.#columns.map(({ name, values }) => {
      const value = values.at(index);
      return [name, Number.isNaN(value) ? null : value] as const;
    });
    return {
      status: STATUSES[this.#status.at(index)] ?? 'errored',
      failure: this.#failures.get(index) ?? null,
      ...(Object.fromEntries(numbers) as Pick<GuideRequest, (typeof NUMBERS)[number]>),
    };
  }

  *[Symbol.iterator](): Generator<GuideRequest> {
    for (let index = 0; index < this.size; index++) yield this.at(index);
  }

  /** Their places in the order in which they were sent. */
  inOrder(): Uint32Array {
    const sent_s = this.#columns[NUMBERS.indexOf('sent_s')]?.values.toArray() ?? new Float64Array();
    return Uint32Array.from(sent_s, (_, index) => index).sort((a, b) => (sent_s[a] ?? NaN) - (sent_s[b] ?? NaN));
  }

  noteLeftOut(notes: ImportNotes): void {
    for (let i = 0; i < this.#leftOut; i++) {
      notes.count('requests left out: no time of sending or end', this.#firstLeftOut);
    }
  }

  #add(status: GuideRequest['status'], value: unknown): void {
    const place = this.#seen.get(status) ?? 0;
    this.#seen.set(status, place + 1);
    if (status === 'successful' && place === 0) this.kind = kindOf(value);
    const request = guideRequest(value, status);
    if (request === null) {
      if (this.#leftOut === 0) this.#firstLeftOut = `${status} request ${place}`;
      this.#leftOut += 1;
      return;
    }
    this.hasTurns ||= (request.turn ?? 1) > 1;
    if (request.failure !== null) this.#failures.set(this.size, request.failure);
    for (const { name, values } of this.#columns) values.append(request[name] ?? NaN);
    this.#status.append(STATUSES.indexOf(status));
  }
}

/** The requests that a benchmark holds. */
export function requestsIn(benchmark: Fields): GuideRequests {
  const requests = new GuideRequests();
  const lists = benchmark.object('requests');
  for (const status of STATUSES) requests.add(status, lists?.list(status) ?? []);
  return requests;
}

function kindOf(request: unknown): string | null {
  const kind = isObject(request) ? request['request_type'] : null;
  return typeof kind === 'string' ? kind : null;
}

/** The tool's measurement, in seconds since 1970; null when the report reports none. */
export type GuideWindow = { readonly start_s: number; readonly end_s: number } | null;

/** As the tool takes them: whatever overlaps the measurement is measured. */
export function isIn({ sent_s, end_s }: Pick<GuideRequest, 'sent_s' | 'end_s'>, window: GuideWindow): boolean {
  return window === null || (end_s >= window.start_s && sent_s <= window.end_s);
}

/** What applies to every request of a benchmark. */
export interface RecordContext {
  /** Seconds since 1970: the records' zero. */
  readonly zero_s: number;
  readonly window: GuideWindow;
  /** Whether requests were due at times of a schedule, not as soon as one before had ended. */
  readonly hasSchedule: boolean;
  readonly tokenSource: TokenSource | null;
}

/** The records of a benchmark's requests, in the order in which they were sent. Those of the cool-down are left out. */
export async function* guideRecords(
  requests: GuideRequests,
  context: RecordContext,
  notes: ImportNotes,
): AsyncGenerator<RequestRecord> {
  const { window } = context;
  for (const [index, place] of requests.inOrder().entries()) {
    const request = requests.at(place);
    if (window !== null && request.end_s >= window.start_s && request.sent_s > window.end_s) {
      notes.count('requests of the cool-down, left out', `request ${index}`);
    } else {
      const record = recordOf(request, index, isIn(request, window) ? 'measure' : 'warmup', context, notes);
      yield requests.hasTurns ? { ...record, turn: request.turn } : record;
    }
  }
}

/** A due time further than this from the sending is no time of day. */
const MAX_DUE_SECONDS = 86_400;

function recordOf(
  request: GuideRequest,
  index: number,
  phase: PhaseName,
  { zero_s, hasSchedule, tokenSource }: RecordContext,
  notes: ImportNotes,
): RequestRecord {
  const at = (time_s: number): number => Math.round((time_s - zero_s) * 1e9);
  const maybeAt = (time_s: number | null): number | null => (time_s === null ? null : at(time_s));
  const { failure, output_tokens } = request;
  return {
    ...UNREPORTED,
    index,
    phase,
    due_ns: hasSchedule ? maybeAt(dueOf(request, index, notes)) : null,
    sent_ns: at(request.sent_s),
    first_content_ns: maybeAt(request.first_s),
    first_output_ns: maybeAt(request.first_output_s),
    last_content_ns: maybeAt(request.last_s),
    end_ns: at(request.end_s),
    ...howEnded(failure),
    input_tokens: request.input_tokens,
    // The server reports input and output; of a failed request the tool counted the input itself.
    input_tokens_source: output_tokens === null ? null : tokenSource,
    output_tokens,
    output_tokens_source: output_tokens === null ? null : tokenSource,
    cached_tokens: request.cached_tokens,
  };
}

/** 0.8.1 writes due times since its own start instead of times of day for a poisson schedule. */
function dueOf({ due_s, sent_s }: GuideRequest, index: number, notes: ImportNotes): number | null {
  if (due_s === null || Math.abs(sent_s - due_s) <= MAX_DUE_SECONDS) return due_s;
  notes.count('due times that are no time of day, read as unknown', `request ${index}`);
  return null;
}
