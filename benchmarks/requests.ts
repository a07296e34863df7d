import { fileURLToPath } from 'node:url';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { ONE_CHUNK, clientArguments, startPacedServer } from './paced-server.ts';
import { clientResult } from './stream.ts';
import type { ClientResult } from './stream.ts';
import { peer } from './workshop.ts';

const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
const WARM_SECONDS = 2;
const SECONDS = 3;
const A_THIRD = { by: 'ratio', atMost: 1 / 3 } as const;

const OURS = 'llmbench';
const SOCKETS = 'bare sockets that read nothing';
const UNDICI = 'bare undici dispatch loop';
const AIPERF = 'AIPerf-like Python loop';

/**
 * The question: how many requests per second does one process make?
 * Compared, 64 at a time with responses of one chunk: `llmbench run` with its metrics and files, a loop on Node's sockets that
 * writes and waits for the end of each response, which is the limit of any client on Node, a loop on undici that does nothing
 * but stamp, and a Python loop that reads as AIPerf does. The time per request is the inverse of the rate.
 * It does not show: what a server that computes something would allow.
 */
export const requests: Bench = {
  name: 'requests',
  question: 'how many requests per second of one chunk each does one process make?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const { workshop } = context;
    const server = await startPacedServer(workshop);
    try {
      const args = clientArguments(server.port, ONE_CHUNK, WARM_SECONDS, SECONDS);
      const client = (command: string, clientArgs: readonly string[]): Promise<ClientResult> =>
        clientResult(command, clientArgs, workshop, ONE_CHUNK);
      const competitors = {
        [SOCKETS]: async () => client(process.execPath, [peer('socket-client.mjs'), ...args]),
        [UNDICI]: async () => client(process.execPath, [peer('stream-client.mjs'), ...args]),
        [OURS]: async () => client(process.execPath, [CLIENT, ...args]),
        [AIPERF]: async () => client(await workshop.python(), [peer('stream-client.py'), ...args]),
      };
      const measured = await inTurn(context.rounds, competitors, context);
      return [SOCKETS, UNDICI, AIPERF].flatMap((peer) => rowsOf(measured.get(OURS), measured.get(peer), peer));
    } finally {
      await server.stop();
    }
  },
};

function rowsOf(
  ours: readonly ClientResult[] | undefined,
  peer: readonly ClientResult[] | undefined,
  peerName: string,
): Row[] {
  if (ours === undefined || peer === undefined) return [];
  const perRequest_us = (result: ClientResult): number => 1e6 / result.chunksPerSecond;
  return [
    {
      what: `time per request ÷ ${peerName}`,
      unit: 'µs',
      ours: ours.map(perRequest_us),
      peer: peer.map(perRequest_us),
      target: peerName === AIPERF ? A_THIRD : null,
    },
    {
      what: `CPU per request ÷ ${peerName}`,
      unit: 'µs',
      ours: ours.map((result) => result.cpu_us),
      peer: peer.map((result) => result.cpu_us),
      target: null,
    },
  ];
}
