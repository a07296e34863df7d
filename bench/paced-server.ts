import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from './child-program.ts';
import type { Workshop } from './workshop.ts';

/** Load of the stream benches: 512 streams that all get a chunk every 20 ms. */
export const LOAD = { streams: 512, tokens: 100, ttft_us: 10_000, itl_us: 0, tick_us: 20_000, jitter_us: 0 } as const;
/** What a client that keeps up reads. */
export const CHUNKS_PER_SECOND = LOAD.streams * (1e6 / LOAD.tick_us);

const READY_WITHIN_MS = 5_000;

/** The peers' paced server, which writes its clock into every event. */
export interface PacedServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it on a free port. Rejects with `Unavailable` when it cannot be compiled here. */
export async function startPacedServer(workshop: Workshop): Promise<PacedServer> {
  const binary = await workshop.compiledC('stream/sse_server.c');
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
export function clientArguments(port: number, warmSeconds: number, seconds: number): string[] {
  const { streams, tokens, ttft_us, itl_us, tick_us } = LOAD;
  return [port, streams, tokens, ttft_us, itl_us, tick_us, warmSeconds, seconds].map(String);
}

/** The variables that they get: how far first tokens are spread, and where to put what must not outlive the workshop. */
export function clientEnvironment(workshop: Workshop): Readonly<Record<string, string>> {
  return { JIT: String(LOAD.jitter_us), TMPDIR: workshop.folder };
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
  while (!(await answers(port))) {
    if (Date.now() > deadline) throw new Error(`the paced server does not answer on port ${port}`);
    await sleep(20);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
