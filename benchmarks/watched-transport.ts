import { RawTransport } from '../exporter/load/transports/raw/raw-transport.ts';
import type { Exchange, ResponseHandler, Transport, TransportRequest } from '../exporter/load/transports/transport.ts';
import { UndiciTransport } from '../exporter/load/transports/undici/undici-transport.ts';
import type { StampErrors } from './stream-stamp-errors.ts';

/**
 * From now on every transport of this process, whichever was chosen, shows its answers to `errors` first. The program under
 * measurement stays whole and knows nothing of it. Resolves when that many requests were sent.
 */
export function watchTransports(errors: StampErrors, requests: number): Promise<void> {
  let sent = 0;
  return new Promise((resolve) => {
    for (const { prototype } of [UndiciTransport, RawTransport]) {
      const send = sendOf(prototype);
      prototype.send = function (this: Transport, request: TransportRequest, handler: ResponseHandler): Exchange {
        if (++sent === requests) resolve();
        return send.call(this, request, errors.watching(handler));
      };
    }
  });
}

function sendOf(prototype: Transport): Transport['send'] {
  const send = Object.getOwnPropertyDescriptor(prototype, 'send')?.value as Transport['send'] | undefined;
  if (send === undefined) throw new Error('the transport has no method send');
  return send;
}
