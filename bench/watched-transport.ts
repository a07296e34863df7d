import type { Exchange, ResponseHandler, Transport, TransportRequest } from '../exporter/bench/transport.ts';
import { UndiciTransport } from '../exporter/bench/undici-transport.ts';
import type { StampErrors } from './stream-stamp-errors.ts';

/**
 * From now on every transport of this process shows its answers to `errors` first. The program under measurement stays
 * whole and knows nothing of it. Resolves when that many requests were sent.
 */
export function watchTransports(errors: StampErrors, requests: number): Promise<void> {
  const send = Object.getOwnPropertyDescriptor(UndiciTransport.prototype, 'send')?.value as
    Transport['send'] | undefined;
  if (send === undefined) throw new Error('UndiciTransport has no method send');
  let sent = 0;
  return new Promise((resolve) => {
    UndiciTransport.prototype.send = function (
      this: UndiciTransport,
      request: TransportRequest,
      handler: ResponseHandler,
    ): Exchange {
      if (++sent === requests) resolve();
      return send.call(this, request, errors.watching(handler));
    };
  });
}
