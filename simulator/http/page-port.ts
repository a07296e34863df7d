import type { Listening } from '../faults/restarting-server.ts';

/** The port of a metrics page that is not on that of the API. It is kept, so that the next start takes the same. */
export interface PagePort {
  port: number;
  /** Whether another port will do when this one is in use. */
  isPreferred: boolean;
}

/** The port that a system uses by default for a page, or, unless `isWanted`, a free one. */
export function pagePort(defaultPort: number, isWanted = false): PagePort {
  return isWanted ? { port: defaultPort, isPreferred: true } : { port: 0, isPreferred: false };
}

/** Starts to serve a page at its port. Throws the error of node:net if that is not possible. */
export async function listenAt(server: Listening, address: PagePort, host: string): Promise<void> {
  try {
    address.port = await server.listen(address.port, host);
  } catch (error) {
    if (!address.isPreferred || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    address.port = await server.listen(0, host);
  }
  address.isPreferred = false;
}
