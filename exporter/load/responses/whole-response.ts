import type { ErrorReason } from '../../../core/run/record.ts';
import type { Transport, TransportFailure, TransportRequest } from '../transports/transport.ts';

export interface WholeResponse {
  readonly status: number;
  readonly body: string;
}

const MAX_BYTES = 2 ** 20;

/** Thrown when there is no complete response. */
export class ExchangeError extends Error {
  readonly reason: ErrorReason;

  constructor(failure: TransportFailure) {
    super(failure.message);
    this.reason = failure.reason;
  }
}

/**
 * Sends one request and collects its response: for requests outside of a benchmark. Rejects with an `ExchangeError`.
 */
export function wholeResponse(
  transport: Transport,
  request: TransportRequest,
  timeoutSeconds: number,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let bytesRead = 0;
    let status = 0;
    const exchange = transport.send(request, {
      head: (code) => {
        status = code;
      },
      data: (_stamp, bytes, start, end) => {
        pieces.push(Uint8Array.prototype.slice.call(bytes, start, end));
        bytesRead += end - start;
        if (bytesRead > MAX_BYTES)
          exchange.abort({ reason: 'other', message: `the response exceeds the limit of ${MAX_BYTES} bytes` });
      },
      end: () => {
        clearTimeout(timer);
        resolve({ status, body: Buffer.concat(pieces).toString('utf8') });
      },
      failed: (_stamp, failure) => {
        clearTimeout(timer);
        reject(new ExchangeError(failure));
      },
    });
    const timer = setTimeout(() => {
      exchange.abort({ reason: 'request_timeout', message: `no response within ${timeoutSeconds} s` });
    }, timeoutSeconds * 1000);
  });
}
