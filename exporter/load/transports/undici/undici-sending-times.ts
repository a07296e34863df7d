import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ExchangeTrace } from '../exchange-trace.ts';
import { monotonicNow_ns } from '../../../clock/monotonic-clock.ts';

interface Traced {
  readonly trace: ExchangeTrace;
  readonly bodyBytes: number;
}

/**
 * When undici sends requests, from its diagnostics channels, which are the only source. Requests of other users pass
 * through the same channels and are ignored.
 */
export class SendingTimes {
  readonly #requests = new WeakMap<object, Traced>();
  #handedOver: Traced | null = null;

  constructor() {
    for (const [channel, listener] of this.#listeners) subscribe(channel, listener);
  }

  /** Sends a request: `dispatch` passes it to undici. */
  of(trace: ExchangeTrace, bodyBytes: number, dispatch: () => void): void {
    this.#handedOver = { trace, bodyBytes };
    try {
      dispatch();
    } finally {
      this.#handedOver = null;
    }
  }

  stop(): void {
    for (const [channel, listener] of this.#listeners) unsubscribe(channel, listener);
  }

  readonly #created = (message: unknown): void => {
    if (this.#handedOver !== null) this.#requests.set(requestOf(message), this.#handedOver);
    this.#handedOver = null;
  };

  readonly #sending = (message: unknown): void => {
    const traced = this.#requests.get(requestOf(message));
    traced?.trace.sending(monotonicNow_ns(), traced.bodyBytes);
  };

  readonly #sent = (message: unknown): void => {
    this.#requests.get(requestOf(message))?.trace.sent(monotonicNow_ns());
  };

  readonly #listeners = [
    ['undici:request:create', this.#created],
    ['undici:client:sendHeaders', this.#sending],
    ['undici:request:bodySent', this.#sent],
  ] as const;
}

/** Undici's own object of a request, the same in all its messages. */
function requestOf(message: unknown): object {
  return (message as { readonly request: object }).request;
}
