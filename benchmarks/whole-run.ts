import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResultFile } from '../core/run/result.ts';
import { outputOf, startProgram } from './child-program.ts';
import type { PacedLoad } from './paced-server.ts';
import type { Workshop } from './workshop.ts';
import { readFileSync, readdirSync } from 'node:fs';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const SAMPLE_EVERY_MS = 100;

/** First chunks come 10 to 30 ms after the request, evenly spread, the others 20 ms apart. */
export const LOAD: PacedLoad = {
  streams: 512,
  tokens: 100,
  ttft_us: 10_000,
  itl_us: 20_000,
  tick_us: 0,
  jitter_us: 20_000,
};
export const REQUESTS = 4096;
/** By then the code that reads the streams is compiled. */
export const COMPILED_AFTER_SECONDS = 6;

/** CPU of all threads and processes per chunk while requests are under way, and how many chunks they read. */
export interface Cost {
  readonly cpu_us: number;
  readonly chunksPerSecond: number;
}

/** What a whole program needed, with all its processes and without its start, and reported. */
export interface WholeRun extends Cost {
  readonly ttftP50_ms: number;
  readonly ttftP99_ms: number;
}

/** A run of llmbench. */
export interface OwnRun extends WholeRun {
  /** As `cpu_us`, from `COMPILED_AFTER_SECONDS` on; the load is the same all the while. */
  readonly compiledCpu_us: number;
}

/** Wall time in milliseconds since 1970. */
export interface Window {
  readonly start_ms: number;
  readonly end_ms: number;
}

/** `llmbench run` of the load against a paced server at `url`, with further options. */
export async function llmbenchRun(url: string, workshop: Workshop, more: readonly string[] = []): Promise<OwnRun> {
  const folder = await mkdtemp(join(workshop.folder, 'runs-'));
  const options = ['--url', url, '--model', 'm', '--isl', '40', '--osl', String(LOAD.tokens), '--runs-dir', folder];
  const load = ['--concurrency', String(LOAD.streams), '--request-count', String(REQUESTS), '--no-server-metrics'];
  const { stdout, cpu } = await watched([process.execPath, LAUNCHER, 'run', '--json', ...options, ...load, ...more]);
  await rm(folder, { recursive: true });
  const { window, requests, measures } = JSON.parse(stdout) as ResultFile;
  const ttft = measures.find(
    ({ measure, population, clock }) => measure === 'time_to_first_token' && population === 'ok' && clock === 'sent',
  );
  if (ttft?.kind !== 'distribution') throw new Error('the result has no time to first token');
  const { p50, p99 } = ttft.percentiles;
  const whole = { start_ms: instant(window.start), end_ms: instant(window.end) };
  const cost = costOf(cpu, requests.ok ?? NaN, whole);
  const compiled = { ...whole, start_ms: whole.start_ms + COMPILED_AFTER_SECONDS * 1000 };
  return {
    ...cost,
    compiledCpu_us: (coresIn(cpu, compiled) * 1e6) / cost.chunksPerSecond,
    ttftP50_ms: (p50.value ?? NaN) * 1000,
    ttftP99_ms: (p99.value ?? NaN) * 1000,
  };
}

const instant = (text: string | null): number => Date.parse(text ?? '');

export interface CpuSample {
  readonly at_ms: number;
  readonly cpu_s: number;
}

export function costOf(cpu: readonly CpuSample[], requests: number, window: Window): Cost {
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
export async function watched(command: readonly string[]): Promise<{ stdout: string; cpu: readonly CpuSample[] }> {
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
