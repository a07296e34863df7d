import { FIGURE_NAMES } from './request-figures.ts';
import type { RequestFigures } from './request-figures.ts';

const AT = Object.fromEntries(FIGURE_NAMES.map((name, i) => [name, i])) as Record<keyof RequestFigures, number>;

/** The figures of one row after the other, read directly from the block: no object is made per request. */
export class FigureRow implements RequestFigures {
  #block: Float64Array = new Float64Array();
  #start = 0;

  /** `start` is where the row begins; its figures are in the order of their names, NaN is what is not known. */
  moveTo(block: Float64Array, start: number): void {
    this.#block = block;
    this.#start = start;
  }

  get due_ns(): number | null {
    return this.#known(AT.due_ns);
  }

  get sent_ns(): number {
    return this.#figure(AT.sent_ns);
  }

  get first_content_ns(): number | null {
    return this.#known(AT.first_content_ns);
  }

  get second_content_ns(): number | null {
    return this.#known(AT.second_content_ns);
  }

  get first_output_ns(): number | null {
    return this.#known(AT.first_output_ns);
  }

  get last_content_ns(): number | null {
    return this.#known(AT.last_content_ns);
  }

  get end_ns(): number {
    return this.#figure(AT.end_ns);
  }

  get connect_ns(): number | null {
    return this.#known(AT.connect_ns);
  }

  get input_tokens(): number | null {
    return this.#known(AT.input_tokens);
  }

  get output_tokens(): number | null {
    return this.#known(AT.output_tokens);
  }

  get reasoning_tokens(): number | null {
    return this.#known(AT.reasoning_tokens);
  }

  get cached_tokens(): number | null {
    return this.#known(AT.cached_tokens);
  }

  get requested_output_tokens(): number | null {
    return this.#known(AT.requested_output_tokens);
  }

  get counted_input_tokens(): number | null {
    return this.#known(AT.counted_input_tokens);
  }

  get counted_output_tokens(): number | null {
    return this.#known(AT.counted_output_tokens);
  }

  get counted_reasoning_tokens(): number | null {
    return this.#known(AT.counted_reasoning_tokens);
  }

  get content_chunks(): number {
    return this.#figure(AT.content_chunks);
  }

  get http_blocked_ns(): number | null {
    return this.#known(AT.http_blocked_ns);
  }

  get http_dns_lookup_ns(): number | null {
    return this.#known(AT.http_dns_lookup_ns);
  }

  get http_connecting_ns(): number | null {
    return this.#known(AT.http_connecting_ns);
  }

  get http_tls_handshaking_ns(): number | null {
    return this.#known(AT.http_tls_handshaking_ns);
  }

  get http_sending_ns(): number | null {
    return this.#known(AT.http_sending_ns);
  }

  get http_waiting_ns(): number | null {
    return this.#known(AT.http_waiting_ns);
  }

  get http_receiving_ns(): number | null {
    return this.#known(AT.http_receiving_ns);
  }

  #figure(at: number): number {
    return this.#block[this.#start + at] ?? NaN;
  }

  #known(at: number): number | null {
    const value = this.#figure(at);
    return Number.isNaN(value) ? null : value;
  }
}
