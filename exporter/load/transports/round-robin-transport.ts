import type { TransportKind } from '../../../core/run/run.ts';
import type { Exchange, ResponseHandler, Transport, TransportRequest } from './transport.ts';

/** Several servers as one: each request goes to the next server, regardless of the earlier results. */
export class RoundRobinTransport implements Transport {
  /** The transports to the servers, one each. */
  readonly each: readonly [Transport, ...Transport[]];
  #next = 0;

  /** At least one. */
  constructor(transports: readonly [Transport, ...Transport[]]) {
    this.each = transports;
  }

  get kind(): TransportKind | null {
    const kind = this.each[0].kind ?? null;
    return this.each.every((transport) => transport.kind === kind) ? kind : null;
  }

  send(request: TransportRequest, handler: ResponseHandler): Exchange {
    const transport = this.each[this.#next] ?? this.each[0];
    this.#next = (this.#next + 1) % this.each.length;
    return transport.send(request, handler);
  }

  async close(): Promise<void> {
    await Promise.all(this.each.map((transport) => transport.close()));
  }
}

/** The transports to each of the servers behind a transport, in the order of their URLs. */
export function waysOf(transport: Transport): readonly Transport[] {
  return transport instanceof RoundRobinTransport ? transport.each : [transport];
}
