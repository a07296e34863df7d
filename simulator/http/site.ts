import type { Listening } from '../faults/restarting-server.ts';
import { listenAt, type PagePort } from './page-port.ts';

/** A server on a port of its own beside the main one. */
export interface SidePage {
  readonly server: Listening;
  readonly address: PagePort;
}

/** Several servers that begin and end together: one with the API, the others with metrics pages. */
export class Site implements Listening {
  readonly #main: Listening;
  readonly #side: readonly SidePage[];
  readonly #closed: () => void;

  /** @param closed called after the servers have ended */
  constructor(main: Listening, side: readonly SidePage[], closed: () => void) {
    this.#main = main;
    this.#side = side;
    this.#closed = closed;
  }

  /** @returns the port of the main server */
  async listen(port: number, host: string): Promise<number> {
    const own = await this.#main.listen(port, host);
    for (const { server, address } of this.#side) await listenAt(server, address, host);
    return own;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main, ...this.#side.map(({ server }) => server)].map((server) => server.close()));
    this.#closed();
  }
}
