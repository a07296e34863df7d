import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row, Target } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import type { JsonLine } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { CHUNKS_PER_SECOND, clientArguments, clientEnvironment, startPacedServer } from './paced-server.ts';
import { median } from './statistics.ts';
import type { Workshop } from './workshop.ts';

const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
/** Long enough for the compiler to have seen the larger program as well. */
const WARM_SECONDS = 2;
const SECONDS = 4;
const KEEPING_UP = 0.95;

const OURS = 'llmbench';
const UNDICI = 'bare undici dispatch loop';
const AIPERF = 'AIPerf-like Python loop';
const C = 'C client';

/**
 * The question: what does measuring a stream cost, and how late are its time stamps?
 * Compared, at 512 streams of 50 chunks/s that all come at once every 20 ms: `llmbench run` with its live metrics,
 * record files and progress; a loop on the same transport that does nothing but stamp; a Python loop that reads as AIPerf
 * does; and a C client, the limit of the machine. The time-stamp error is the client's stamp minus the time that the
 * server wrote into the event.
 * It does not tell: how AIPerf itself does (its processes cost many times its loop), other loads, TLS, or a server that
 * shares no machine with the client.
 */
export const stream: Bench = {
  name: 'stream',
  question: 'what does measuring 512 streams cost per chunk, and how late are the time stamps?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const { workshop, rounds } = context;
    const server = await startPacedServer(workshop);
    try {
      const args = clientArguments(server.port, WARM_SECONDS, SECONDS);
      const client = (command: string, clientArgs: readonly string[]): Promise<ClientResult> =>
        clientResult(command, clientArgs, workshop);
      const competitors = {
        [UNDICI]: async () =>
          client(process.execPath, [await workshop.script('stream/node_client.mjs'), 'undici-dispatch', ...args]),
        [OURS]: async () => client(process.execPath, [CLIENT, ...args]),
        [C]: async () => client(await workshop.compiledC('stream/c_client.c'), args),
        [AIPERF]: async () =>
          client(await workshop.python(), [await workshop.script('stream/py_client.py'), 'records', ...args]),
      };
      const measured = await inTurn(rounds, competitors, context);
      noteThoseBehind(measured, context);
      return rowsOf(measured);
    } finally {
      await server.stop();
    }
  },
};

interface ClientResult {
  readonly cpu_us: number;
  readonly error_p99_ms: number;
  readonly chunksPerSecond: number;
}

async function clientResult(command: string, args: readonly string[], workshop: Workshop): Promise<ClientResult> {
  const { stdout } = await runProgram(command, args, { env: clientEnvironment(workshop) });
  const line: JsonLine = lastJsonLine(stdout);
  // The peers' clients do not tell.
  const failed = line.failed === undefined ? 0 : numberOf(line, 'failed');
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return {
    cpu_us: numberOf(line, 'cpu_us_per_chunk'),
    error_p99_ms: numberOf(line, 'err_p99_ms'),
    chunksPerSecond: numberOf(line, 'chunks_per_s'),
  };
}

function noteThoseBehind(measured: ReadonlyMap<string, readonly ClientResult[]>, context: BenchContext): void {
  for (const [name, results] of measured) {
    const reached = median(results.map((result) => result.chunksPerSecond));
    if (reached < KEEPING_UP * CHUNKS_PER_SECOND) {
      context.note(`${name} did not keep up: ${Math.round(reached)} of ${CHUNKS_PER_SECOND} chunks/s`);
    }
  }
}

function rowsOf(measured: ReadonlyMap<string, readonly ClientResult[]>): Row[] {
  const ours = measured.get(OURS);
  if (ours === undefined) return [];
  const row = (peerName: string, what: 'cpu' | 'error', atMost: number | null): Row[] => {
    const peer = measured.get(peerName);
    if (peer === undefined) return [];
    const read = (result: ClientResult): number => (what === 'cpu' ? result.cpu_us : result.error_p99_ms);
    const target: Target | null = atMost === null ? null : { by: 'ratio', atMost };
    return [
      {
        what: `${what === 'cpu' ? 'CPU per chunk' : 'time-stamp error p99'} ÷ ${peerName}`,
        unit: what === 'cpu' ? 'µs' : 'ms',
        ours: ours.map(read),
        peer: peer.map(read),
        target,
      },
    ];
  };
  return [
    ...row(UNDICI, 'cpu', 1.3),
    ...row(UNDICI, 'error', 1.5),
    ...row(AIPERF, 'cpu', 0.7),
    ...row(AIPERF, 'error', null),
    ...row(C, 'cpu', 2.5),
    ...row(C, 'error', null),
  ];
}
