import type { PhaseName } from '../../core/run/record.ts';
import type { Dataset } from './dataset.ts';
import type { Endpoint, GenerationOptions } from './endpoints/endpoint.ts';
import type { TransportRequest } from './transport.ts';

const MOST_BYTES_AHEAD = 16 * 2 ** 20;
/** How many requests are made between two turns of the event loop. */
const BATCH = 8;

/** How the requests of a run are written. */
export interface RequestForm {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dataset: Dataset;
  readonly options: GenerationOptions;
}

export interface ReadyRequest {
  /** Position in the phase, from 0. */
  readonly position: number;
  readonly max_tokens: number;
  readonly request: TransportRequest;
}

/** The requests of one phase in order, written some ahead while the loop is idle so that sending one costs no more. */
export class RequestFeed {
  readonly #form: RequestForm;
  readonly #phase: PhaseName;
  readonly #count: number;
  readonly #ahead: number;
  #ready: ReadyRequest[] = [];
  #readyBytes = 0;
  #next = 0;
  #scheduled = false;

  /** `count`: how many there are, null without end; `ahead`: how many to hold ready. */
  constructor(form: RequestForm, phase: PhaseName, count: number | null, ahead: number) {
    this.#form = form;
    this.#phase = phase;
    this.#count = count ?? Infinity;
    this.#ahead = ahead;
    while (this.#wantsMore()) this.#hold();
  }

  /** The next request; null after the last. */
  take(): ReadyRequest | null {
    const ready = this.#ready.shift();
    if (ready === undefined) return this.#next < this.#count ? this.#make() : null;
    this.#readyBytes -= size(ready);
    if (!this.#scheduled && this.#wantsMore()) this.#schedule();
    return ready;
  }

  #wantsMore(): boolean {
    return this.#next < this.#count && this.#ready.length < this.#ahead && this.#readyBytes < MOST_BYTES_AHEAD;
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (let i = 0; i < BATCH && this.#wantsMore(); i++) this.#hold();
      if (this.#wantsMore()) this.#schedule();
    });
  }

  #hold(): void {
    const ready = this.#make();
    this.#readyBytes += size(ready);
    this.#ready.push(ready);
  }

  #make(): ReadyRequest {
    const position = this.#next++;
    const generation = this.#form.dataset.request(this.#phase, position);
    const { path, headers } = this.#form;
    const body = this.#form.endpoint.body(generation, this.#form.options);
    return { position, max_tokens: generation.max_tokens, request: { method: 'POST', path, headers, body } };
  }
}

function size(ready: ReadyRequest): number {
  return ready.request.body?.length ?? 0;
}
