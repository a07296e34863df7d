import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { median } from '../core/stats/percentiles.ts';
import { startProgram } from './child-program.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const SAMPLER = new URL('sampler.ts', import.meta.url).href;
const STDERR_SHOWN = 400;

/** What a watched process reports of itself. */
export interface Reading {
  /** Since its start. */
  readonly seconds: number;
  readonly rss_mb: number;
  /** The JavaScript heap and what it holds outside, garbage included. */
  readonly held_mb: number;
  readonly openFiles: number;
  /** Of the time since the reading before. */
  readonly delay_p99_ms: number;
  readonly delay_max_ms: number;
}

/** A command of llmbench that reports its memory, open files and event-loop delay. */
export interface WatchedCommand {
  /** The first line of its output. */
  readonly firstLine: Promise<string>;
  /** All of it, at its end. Rejected unless the exit code is 0. */
  readonly ended: Promise<string>;
  stop(): void;
}

/** Starts it, with further options of Node; `read` receives each reading. */
export function watchCommand(
  args: readonly string[],
  read: (reading: Reading) => void,
  nodeOptions: readonly string[] = [],
): WatchedCommand {
  const child = startProgram(process.execPath, [...nodeOptions, '--import', SAMPLER, LAUNCHER, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  const readings = child.stdio[3] as Readable | null | undefined;
  if (stdout === null || stderr === null || !readings) throw new Error('a command is started with pipes');
  createInterface({ input: readings }).on('line', (line) => read(JSON.parse(line) as Reading));
  let [output, complaint] = ['', ''];
  stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-STDERR_SHOWN)));
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else
        reject(
          new Error(`llmbench ${args[0]}: ended with ${signal ?? `code ${code}`}: ${complaint.trim() || 'no message'}`),
        );
    });
  });
  const line = new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve));
  const firstLine = Promise.race([line, ended.then(() => line)]);
  // Who waits for the line, or for the end, gets the error.
  firstLine.catch(() => undefined);
  return { firstLine, ended, stop: () => void child.kill('SIGTERM') };
}

/** Left out at the beginning: connections open and code is compiled. */
const WARM_SHARE = 0.2;
const MAX_WARM_SECONDS = 30;

/** The first and the last third of the readings after the warm-up. Throws when there are too few of them. */
export function outerThirds(all: readonly Reading[]): { readonly first: Reading[]; readonly last: Reading[] } {
  const readings = afterWarmup(all);
  const third = Math.floor(readings.length / 3);
  if (third === 0) throw new Error(`only ${all.length} readings: watch for longer (--minutes)`);
  return { first: readings.slice(0, third), last: readings.slice(-third) };
}

/** The readings after the warm-up. */
export function afterWarmup(all: readonly Reading[]): Reading[] {
  const warm = Math.min(WARM_SHARE * (all.at(-1)?.seconds ?? 0), MAX_WARM_SECONDS);
  return all.filter(({ seconds }) => seconds > warm);
}

/** Ten parts of equal numbers of readings, in order. */
export function tenths(readings: readonly Reading[]): Reading[][] {
  const edge = (i: number): number => Math.floor((i * readings.length) / 10);
  return Array.from({ length: 10 }, (_, i) => readings.slice(edge(i), edge(i + 1)));
}

export const medianOf = (readings: readonly Reading[], read: (reading: Reading) => number): number =>
  median(readings.map(read));
