import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from './child-program.ts';
import type { Workshop } from './workshop.ts';

/** Parameters of the paced server. With a tick all streams get their chunks at once, else each `itl_us` apart. */
export interface PacedLoad {
  readonly streams: number;
  readonly tokens: number;
  readonly ttft_us: number;
  readonly itl_us: number;
  readonly tick_us: number;
  /** First chunks are spread evenly over this time. */
  readonly jitter_us: number;
}

/** 512 streams that all get a chunk every 20 ms. */
export const BURST_512: PacedLoad = {
  streams: 512,
  tokens: 100,
  ttft_us: 10_000,
  itl_us: 0,
  tick_us: 20_000,
  jitter_us: 0,
};
/** 2,000 streams that all get a chunk every 50 ms. */
export const BURST_2000: PacedLoad = { ...BURST_512, streams: 2000, tick_us: 50_000 };
/** 64 at a time, each response one chunk, at once: as many as client and server manage. */
export const ONE_CHUNK: PacedLoad = { streams: 64, tokens: 1, ttft_us: 0, itl_us: 0, tick_us: 0, jitter_us: 0 };

/** What a client that keeps up reads. Infinite where nothing paces it. */
export function chunksPerSecond({ streams, itl_us, tick_us }: PacedLoad): number {
  return (streams * 1e6) / (tick_us || itl_us);
}

const READY_WITHIN_MS = 5_000;

/** A server of paced streams, which writes its clock into every event. */
export interface PacedServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it on a free port. Rejects with `Unavailable` when it cannot be compiled here. */
export async function startPacedServer(workshop: Workshop): Promise<PacedServer> {
  const binary = await workshop.compiledC('paced-server.c');
  const port = await freePort();
  const child = startProgram(binary, [String(port)], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  await Promise.race([untilAnswering(port), ended.then(() => Promise.reject(new Error('the paced server ended')))]);
  return {
    port,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** The arguments that every stream client takes. */
export function clientArguments(port: number, load: PacedLoad, warmSeconds: number, seconds: number): string[] {
  const { streams, tokens, ttft_us, itl_us, tick_us } = load;
  return [port, streams, tokens, ttft_us, itl_us, tick_us, warmSeconds, seconds].map(String);
}

/** The variables that they get: how far first tokens are spread, and where to put what must not outlive the workshop. */
export function clientEnvironment(workshop: Workshop, load: PacedLoad): Readonly<Record<string, string>> {
  return { JIT: String(load.jitter_us), TMPDIR: workshop.folder };
}

/** The address that makes it answer so. */
export function pacedUrl(port: number, { tokens, ttft_us, itl_us, tick_us, jitter_us }: PacedLoad): string {
  return `http://127.0.0.1:${port}/v1/chat/completions?n=${tokens}&t=${ttft_us}&i=${itl_us}&y=${tick_us}&j=${jitter_us}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

async function untilAnswering(port: number): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await responses(port))) {
    if (Date.now() > deadline) throw new Error(`the paced server does not answer on port ${port}`);
    await sleep(20);
  }
}

function responses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
