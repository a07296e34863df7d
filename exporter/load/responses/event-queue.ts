/** Deferred work: an event to parse, or the end of a response. */
export interface QueuedEvent {
  readonly bytes: number;
  process(): void;
}

const MAX_EVENTS = 8192;
const MAX_BYTES = 64 * 2 ** 20;
const BATCH = 512;

/**
 * Defers work until the event loop has read all available data, so that no arrival waits behind a parser. Keeps the
 * order. The queue is bounded: when it is full, the oldest entry is processed immediately.
 */
export class EventQueue {
  #events: (QueuedEvent | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #scheduled = false;

  push(event: QueuedEvent): void {
    while (this.length >= MAX_EVENTS || (this.#bytes > MAX_BYTES && this.length > 0)) this.#processOldest();
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.#schedule();
  }

  get length(): number {
    return this.#events.length - this.#first;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#drain);
  }

  readonly #drain = (): void => {
    this.#scheduled = false;
    for (let n = Math.min(this.length, BATCH); n > 0; n--) this.#processOldest();
    if (this.length > 0) this.#schedule();
  };

  #processOldest(): void {
    const event = this.#events[this.#first];
    this.#events[this.#first++] = undefined;
    if (this.#first === this.#events.length || this.#first >= MAX_EVENTS) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    if (event === undefined) return;
    this.#bytes -= event.bytes;
    event.process();
  }
}
