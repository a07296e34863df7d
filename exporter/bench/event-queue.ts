/** What waits to be looked at more closely: an event, or the end of an answer. */
export interface QueuedEvent {
  readonly bytes: number;
  process(): void;
}

const MOST_EVENTS = 8192;
const MOST_BYTES = 64 * 2 ** 20;
const BATCH = 512;

/**
 * Work put off until the event loop has read what there was to read, so that no arrival waits behind a parser. Order is
 * kept. The queue is bounded: when it is full, what is oldest is done at once.
 */
export class EventQueue {
  #events: (QueuedEvent | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #scheduled = false;

  push(event: QueuedEvent): void {
    while (this.length >= MOST_EVENTS || (this.#bytes > MOST_BYTES && this.length > 0)) this.#processOldest();
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
    if (this.#first === this.#events.length || this.#first >= MOST_EVENTS) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    if (event === undefined) return;
    this.#bytes -= event.bytes;
    event.process();
  }
}
