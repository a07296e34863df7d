import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResultFile } from '../core/run/result.ts';
import { inTurn, type Bench, type BenchContext, type Row } from './bench.ts';
import { outputOf, startProgram } from './child-program.ts';
import { clientArguments, pacedUrl, startPacedServer, type PacedLoad } from './paced-server.ts';
import { clientResult } from './stream.ts';
import { peer, type Workshop } from './workshop.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const SAMPLE_EVERY_MS = 100;

/** First chunks come 10 to 30 ms after the request, evenly spread, the others 20 ms apart. */
const LOAD: PacedLoad = {
  streams: 512,
  tokens: 100,
  ttft_us: 10_000,
  itl_us: 20_000,
  tick_us: 0,
  jitter_us: 20_000,
};
const REQUESTS = 4096;
/** By then the code that reads the streams is compiled. */
const COMPILED_AFTER_SECONDS = 6;
const ONE = '--workers 1';
const TWO = '--workers 2';
const SOCKETS_OF_ONE = 'bare sockets of one process';
const SOCKETS_OF_TWO = 'bare sockets of two processes';
const A_FIFTH_MORE = { by: 'ratio', atMost: 1.2 } as const;
const WARM_SECONDS = 2;
const SECONDS = 5;

/**
 * The question: what does it cost to spread a run over two workers?
 * Compared: `llmbench run` with two workers and with one, at 512 streams whose first chunks come after a known time: CPU of all
 * its threads per chunk while requests are under way. Each worker compiles the code that reads the streams for itself, in the
 * first seconds, whatever the length of the run: a row is without them. Beside it, what the same costs where nothing is
 * shared: a loop on Node's sockets that waits for the end of each response, as one process with all streams and as two with half
 * of them each. Each of two reads fewer chunks whenever it wakes up.
 * It does not show: how much more two of them read, which requires that the server has other cores.
 */
export const workers: Bench = {
  name: 'workers',
  question: 'what does it cost to spread a run over two workers?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const { workshop } = context;
    const server = await startPacedServer(workshop);
    const url = pacedUrl(server.port, LOAD);
    const run = (count: string) => (): Promise<OwnRun> => llmbenchRun(url, workshop, ['--workers', count]);
    const sockets = (processes: number) => async (): Promise<Cost> => {
      const load = { ...LOAD, streams: LOAD.streams / processes };
      const args = [peer('socket-client.mjs'), ...clientArguments(server.port, load, WARM_SECONDS, SECONDS)];
      const clients = Array.from({ length: processes }, () => clientResult(process.execPath, args, workshop, load));
      return total(await Promise.all(clients));
    };
    try {
      const competitors: Record<string, () => Promise<Cost & Partial<OwnRun>>> = {
        [ONE]: run('1'),
        [TWO]: run('2'),
        [SOCKETS_OF_ONE]: sockets(1),
        [SOCKETS_OF_TWO]: sockets(2),
      };
      const measured = await inTurn(context.rounds, competitors, context);
      const row = (
        what: string,
        two: string,
        one: string,
        read: (cost: Cost & Partial<OwnRun>) => number,
        target: Row['target'],
      ): Row[] => {
        const [ours, peer] = [measured.get(two), measured.get(one)];
        if (ours === undefined || peer === undefined) return [];
        return [{ what: `${what}, ${two} ÷ ${one}`, unit: 'µs', ours: ours.map(read), peer: peer.map(read), target }];
      };
      const cpu = ({ cpu_us }: Cost): number => cpu_us;
      const compiled = ({ compiledCpu_us = NaN }: Partial<OwnRun>): number => compiledCpu_us;
      const time = ({ chunksPerSecond }: Cost): number => 1e6 / chunksPerSecond;
      return [
        ...row('CPU per chunk', TWO, ONE, cpu, A_FIFTH_MORE),
        ...row(`CPU per chunk after ${COMPILED_AFTER_SECONDS} s`, TWO, ONE, compiled, A_FIFTH_MORE),
        ...row('CPU per chunk', SOCKETS_OF_TWO, SOCKETS_OF_ONE, cpu, null),
        ...row('time per chunk reached', TWO, ONE, time, null),
      ];
    } finally {
      await server.stop();
    }
  },
};

function total(clients: readonly Cost[]): Cost {
  const chunksPerSecond = clients.reduce((sum, each) => sum + each.chunksPerSecond, 0);
  const cores_us = clients.reduce((sum, each) => sum + each.cpu_us * each.chunksPerSecond, 0);
  return { cpu_us: cores_us / chunksPerSecond, chunksPerSecond };
}

/** CPU of all threads and processes per chunk while requests are under way, and how many chunks they read. */
interface Cost {
  readonly cpu_us: number;
  readonly chunksPerSecond: number;
}

/** A run of llmbench. */
interface OwnRun extends Cost {
  /** As `cpu_us`, from `COMPILED_AFTER_SECONDS` on; the load is the same all the while. */
  readonly compiledCpu_us: number;
}

/** Wall time in milliseconds since 1970. */
interface Window {
  readonly start_ms: number;
  readonly end_ms: number;
}

/** `llmbench run` of the load against a paced server at `url`, with further options. */
async function llmbenchRun(url: string, workshop: Workshop, more: readonly string[] = []): Promise<OwnRun> {
  const folder = await mkdtemp(join(workshop.folder, 'runs-'));
  const options = ['--url', url, '--model', 'm', '--isl', '40', '--osl', String(LOAD.tokens), '--runs-dir', folder];
  const load = ['--concurrency', String(LOAD.streams), '--request-count', String(REQUESTS), '--no-server-metrics'];
  const { stdout, cpu } = await watched([process.execPath, LAUNCHER, 'run', '--json', ...options, ...load, ...more]);
  await rm(folder, { recursive: true });
  const { window, requests } = JSON.parse(stdout) as ResultFile;
  const whole = { start_ms: instant(window.start), end_ms: instant(window.end) };
  const cost = costOf(cpu, requests.ok ?? NaN, whole);
  const compiled = { ...whole, start_ms: whole.start_ms + COMPILED_AFTER_SECONDS * 1000 };
  return {
    ...cost,
    compiledCpu_us: (coresIn(cpu, compiled) * 1e6) / cost.chunksPerSecond,
  };
}

const instant = (text: string | null): number => Date.parse(text ?? '');

interface CpuSample {
  readonly at_ms: number;
  readonly cpu_s: number;
}

function costOf(cpu: readonly CpuSample[], requests: number, window: Window): Cost {
  const chunksPerSecond = (requests * LOAD.tokens * 1000) / (window.end_ms - window.start_ms);
  return { cpu_us: (coresIn(cpu, window) * 1e6) / chunksPerSecond, chunksPerSecond };
}

/** How many cores were busy on average. */
function coresIn(cpu: readonly CpuSample[], window: Window): number {
  const inWindow = cpu.filter(({ at_ms }) => at_ms >= window.start_ms && at_ms <= window.end_ms);
  const first = inWindow[0];
  const last = inWindow.at(-1);
  if (first === undefined || last === undefined) throw new Error('the load was over before its CPU was read');
  return (last.cpu_s - first.cpu_s) / ((last.at_ms - first.at_ms) / 1000);
}

/** Runs a program to its end in a process group of its own, and reads the group's CPU time all the while. */
async function watched(command: readonly string[]): Promise<{ stdout: string; cpu: readonly CpuSample[] }> {
  const [program = '', ...args] = command;
  const child = startProgram(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const cpu: CpuSample[] = [];
  const sampling = setInterval(() => {
    if (child.pid !== undefined) cpu.push({ at_ms: Date.now(), cpu_s: cpuSecondsOfGroup(child.pid) });
  }, SAMPLE_EVERY_MS);
  try {
    const { stdout } = await outputOf(child, program);
    return { stdout, cpu };
  } finally {
    clearInterval(sampling);
  }
}

/** Kernel ticks per second, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds, user and system, that the living processes of a group have taken, with those of their ended children. */
function cpuSecondsOfGroup(group: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) ticks += ticksInGroup(Number(name), group);
  }
  return ticks / TICKS_PER_SECOND;
}

/** proc(5): pgrp is the third field behind the command in parentheses, utime to cstime are the twelfth to the fifteenth. */
function ticksInGroup(pid: number, group: number): number {
  const text = statOf(pid);
  if (text === null) return 0;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (Number(fields[2]) !== group) return 0;
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // Ended since the folder was read.
    return null;
  }
}
