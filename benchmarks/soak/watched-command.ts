import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../child-program.ts';
import type { Reading } from './reading.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));
const SAMPLER = new URL('sampler.ts', import.meta.url).href;
const STDERR_SHOWN = 400;

/** A command of llmbench that reports its memory, open files and event-loop delay. */
export interface WatchedCommand {
  /** The first line of its output. */
  readonly firstLine: Promise<string>;
  /** Settled at its end. Rejected unless the exit code is 0. */
  readonly ended: Promise<void>;
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
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-STDERR_SHOWN)));
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(`llmbench ${args[0]}: ended with ${signal ?? `code ${code}`}: ${complaint.trim() || 'no message'}`),
        );
    });
  });
  const line = new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve));
  const firstLine = Promise.race([line, ended.then(() => line)]);
  firstLine.catch(() => undefined);
  return { firstLine, ended, stop: () => void child.kill('SIGTERM') };
}
