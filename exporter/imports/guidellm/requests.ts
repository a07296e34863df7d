import { FloatColumn } from '../../../core/measures/float-column.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { PythonError } from '../reading/python-error.ts';
import { guideRequest, STATUSES } from './request.ts';
import type { GuideRequest } from './request.ts';

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
] as const satisfies readonly (keyof GuideRequest)[];

/**
 * The requests of a benchmark, 80 bytes each: their texts, most of a report, are discarded when they have been read.
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
  const kind =
    typeof request === 'object' && request !== null ? (request as Record<string, unknown>)['request_type'] : null;
  return typeof kind === 'string' ? kind : null;
}
