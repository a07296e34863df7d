import type { ConnectionFacts, ResponseHandler, TransportFailure } from '../exporter/load/transports/transport.ts';

const ID_START = 'data: {"id":"chatcmpl-'.length;
const ID_END = ID_START + 19;
const MIN_CONTENT_EVENT = 230;
const MOST = 1 << 23;

/** Compares each piece's stamp with the time that its event carries, and counts what failed. */
export class StampErrors {
  readonly #errors_ms = new Float64Array(MOST);
  #chunks = 0;
  #failed = 0;

  /** A handler that takes note of what it passes on. */
  watching(handler: ResponseHandler): ResponseHandler {
    return new WatchingHandler(handler, this);
  }

  /** Takes note of bytes[start, end). */
  note(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start < MIN_CONTENT_EVENT || bytes[start] !== 100) return;
    let written_ns = 0;
    for (let i = start + ID_START; i < start + ID_END; i++) written_ns = written_ns * 10 + (bytes[i] ?? 0) - 48;
    if (this.#chunks < MOST) this.#errors_ms[this.#chunks] = (stamp_ns - written_ns) / 1e6;
    this.#chunks++;
  }

  /** Requests that are cancelled at the end of a run did not fail. */
  noteFailure(failure: TransportFailure): void {
    if (failure.reason !== 'cancelled') this.#failed++;
  }

  reset(): void {
    this.#chunks = 0;
  }

  get failed(): number {
    return this.#failed;
  }

  summary(): { chunks: number; p50_ms: number | null; p99_ms: number | null; p999_ms: number | null } {
    const sorted = this.#errors_ms.slice(0, Math.min(this.#chunks, MOST)).sort();
    const at = (q: number): number | null => {
      const value = sorted[Math.floor(q * (sorted.length - 1))];
      return value === undefined ? null : Number(value.toFixed(3));
    };
    return { chunks: this.#chunks, p50_ms: at(0.5), p99_ms: at(0.99), p999_ms: at(0.999) };
  }
}

class WatchingHandler implements ResponseHandler {
  readonly #handler: ResponseHandler;
  readonly #errors: StampErrors;

  constructor(handler: ResponseHandler, errors: StampErrors) {
    this.#handler = handler;
    this.#errors = errors;
  }

  head(status: number, headers: Readonly<Record<string, string>>, connection: ConnectionFacts): void {
    this.#handler.head(status, headers, connection);
  }

  data(stamp_ns: number, bytes: Uint8Array, start: number, end: number): void {
    this.#errors.note(stamp_ns, bytes, start, end);
    this.#handler.data(stamp_ns, bytes, start, end);
  }

  end(stamp_ns: number): void {
    this.#handler.end(stamp_ns);
  }

  failed(stamp_ns: number, failure: TransportFailure, connection: ConnectionFacts): void {
    this.#errors.noteFailure(failure);
    this.#handler.failed(stamp_ns, failure, connection);
  }
}
