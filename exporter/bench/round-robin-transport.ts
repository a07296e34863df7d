import type { Exchange, ResponseHandler, Transport, TransportRequest } from './transport.ts';

/** Several servers as one: each request goes to the next of them, whatever became of the ones before. */
export class RoundRobinTransport implements Transport {
  readonly #transports: readonly Transport[];
  #next = 0;

  /** At least one. */
  constructor(transports: readonly [Transport, ...Transport[]]) {
    this.#transports = transports;
  }

  send(request: TransportRequest, handler: ResponseHandler): Exchange {
    const transport = this.#transports[this.#next] as Transport;
    this.#next = (this.#next + 1) % this.#transports.length;
    return transport.send(request, handler);
  }

  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }
}
