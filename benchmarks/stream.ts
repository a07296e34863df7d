import { fileURLToPath } from 'node:url';
import { inTurn, type Bench, type BenchContext, type Row, type Target } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import {
  BURST_2000,
  BURST_512,
  ONE_CHUNK,
  chunksPerSecond,
  clientArguments,
  clientEnvironment,
  startPacedServer,
} from './paced-server.ts';
import type { PacedLoad } from './paced-server.ts';
import { median } from '../core/stats/percentiles.ts';
import { peer, type Workshop } from './workshop.ts';

const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
/** Long enough for the compiler to have seen the larger program as well. */
const WARM_SECONDS = 2;
const SECONDS = 4;
const REQUEST_SECONDS = 3;
const KEEPING_UP = 0.95;

const OURS = 'llmbench';
const OURS_ON_UNDICI = 'llmbench on undici';
const UNDICI = 'bare undici dispatch loop';
const AIPERF = 'AIPerf-like Python loop';
const C = 'C client';

/** The target of the ratio to the AIPerf-like loop, which reads raw sockets with uvloop. */
interface Targets {
  readonly cpu: number;
  readonly cpuOnUndici: number;
  readonly error: number;
}

export const stream: Bench = streamBench('stream', BURST_512, { cpu: 0.6, cpuOnUndici: 0.8, error: 1 / 5 });
export const streams2000: Bench = streamBench('streams-2000', BURST_2000, {
  cpu: 0.6,
  cpuOnUndici: 0.8,
  error: 1 / 8,
});

/**
 * The question: what does measuring a stream cost, and how late are its time stamps?
 * Compared, at streams that all get a chunk at the same moment: `llmbench run` with its live metrics, record files and
 * progress, on both of its transports; a loop on undici that does nothing but stamp; a Python loop that reads as AIPerf
 * does; and a C client, the limit of the machine. The time-stamp error is the client's stamp minus the time that the
 * server wrote into the event.
 * It does not show: how AIPerf itself does (its processes cost many times its loop: bench `aiperf`), other loads, TLS, or
 * a server that shares no machine with the client.
 */
function streamBench(name: string, load: PacedLoad, targets: Targets): Bench {
  return {
    name,
    question: `what does measuring ${load.streams} streams cost per chunk, and how late are the time stamps?`,
    measure: async (context: BenchContext): Promise<readonly Row[]> => {
      const { workshop, rounds } = context;
      const server = await startPacedServer(workshop);
      try {
        const clients = clientsOf(workshop, server.port, load, SECONDS);
        const competitors = {
          [UNDICI]: clients.undici,
          [OURS]: clients.ours,
          [OURS_ON_UNDICI]: clients.oursOnUndici,
          [C]: clients.c,
          [AIPERF]: clients.aiperf,
        };
        const measured = await inTurn(rounds, competitors, context);
        noteThoseBehind(measured, load, context);
        return rowsOf(measured, targets);
      } finally {
        await server.stop();
      }
    },
  };
}

/** The clients to compare: each measures the load for so many seconds, after some to warm up. */
function clientsOf(workshop: Workshop, port: number, load: PacedLoad, seconds: number) {
  const args = clientArguments(port, load, WARM_SECONDS, seconds);
  const client = (command: string, ...before: readonly string[]): Promise<ClientResult> =>
    clientResult(command, [...before, ...args], workshop, load);
  return {
    sockets: () => client(process.execPath, peer('socket-client.mjs')),
    undici: () => client(process.execPath, peer('stream-client.mjs')),
    ours: () => client(process.execPath, CLIENT),
    oursOnUndici: () => client(process.execPath, CLIENT, '--transport', 'undici'),
    c: async () => client(await workshop.compiledC('stream-client.c')),
    aiperf: async () => client(await workshop.python(), peer('stream-client.py')),
  };
}

/** What a client that reads paced streams measured. */
export interface ClientResult {
  readonly cpu_us: number;
  readonly error_p99_ms: number;
  readonly chunksPerSecond: number;
}

/** Runs one of the clients, ours or a peer's, and reads its line. Rejects when it fails or a request does. */
export async function clientResult(
  command: string,
  args: readonly string[],
  workshop: Workshop,
  load: PacedLoad,
): Promise<ClientResult> {
  const { stdout } = await runProgram(command, args, { env: clientEnvironment(workshop, load) });
  const line = lastJsonLine(stdout);
  // The peers' clients do not report it.
  const failed = line.failed === undefined ? 0 : numberOf(line, 'failed');
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return {
    cpu_us: numberOf(line, 'cpu_us_per_chunk'),
    // A client that reads no clock has none.
    error_p99_ms: line.err_p99_ms === undefined ? NaN : numberOf(line, 'err_p99_ms'),
    chunksPerSecond: numberOf(line, 'chunks_per_s'),
  };
}

function noteThoseBehind(
  measured: ReadonlyMap<string, readonly ClientResult[]>,
  load: PacedLoad,
  context: BenchContext,
): void {
  const offered = chunksPerSecond(load);
  for (const [name, results] of measured) {
    const reached = median(results.map((result) => result.chunksPerSecond));
    if (reached < KEEPING_UP * offered) {
      context.note(`${name} did not keep up: ${Math.round(reached)} of ${offered} chunks/s`);
    }
  }
}

function rowsOf(measured: ReadonlyMap<string, readonly ClientResult[]>, targets: Targets): Row[] {
  const row = (ourName: string, peerName: string, what: 'cpu' | 'error', atMost: number | null): Row[] => {
    const ours = measured.get(ourName);
    const peer = measured.get(peerName);
    if (ours === undefined || peer === undefined) return [];
    const read = (result: ClientResult): number => (what === 'cpu' ? result.cpu_us : result.error_p99_ms);
    const target: Target | null = atMost === null ? null : { by: 'ratio', atMost };
    return [
      {
        what: `${ourName}: ${what === 'cpu' ? 'CPU per chunk' : 'time-stamp error p99'} ÷ ${peerName}`,
        unit: what === 'cpu' ? 'µs' : 'ms',
        ours: ours.map(read),
        peer: peer.map(read),
        target,
      },
    ];
  };
  return [
    ...row(OURS, AIPERF, 'cpu', targets.cpu),
    ...row(OURS_ON_UNDICI, AIPERF, 'cpu', targets.cpuOnUndici),
    ...row(OURS, AIPERF, 'error', targets.error),
    ...row(OURS, UNDICI, 'cpu', 1.3),
    ...row(OURS, UNDICI, 'error', 1.5),
    ...row(OURS, C, 'cpu', 2.5),
    ...row(OURS, C, 'error', null),
  ];
}

const A_THIRD = { by: 'ratio', atMost: 1 / 3 } as const;

const SOCKETS = 'bare sockets that read nothing';

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
      const clients = clientsOf(workshop, server.port, ONE_CHUNK, REQUEST_SECONDS);
      const competitors = {
        [SOCKETS]: clients.sockets,
        [UNDICI]: clients.undici,
        [OURS]: clients.ours,
        [AIPERF]: clients.aiperf,
      };
      const measured = await inTurn(context.rounds, competitors, context);
      return [SOCKETS, UNDICI, AIPERF].flatMap((peer) => requestRows(measured.get(OURS), measured.get(peer), peer));
    } finally {
      await server.stop();
    }
  },
};

function requestRows(
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
