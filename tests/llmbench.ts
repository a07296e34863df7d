import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A llmbench process as a user starts it. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when a line with this text has come on either stream. */
  readonly said: (text: string) => Promise<void>;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly launcher?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function start(args: readonly string[], options: StartOptions = {}): Started {
  const child = spawn(process.execPath, [options.launcher ?? LAUNCHER, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (stdout += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (line: string): void => (line.includes(text) ? resolve() : undefined);
      createInterface(child.stdout).on('line', check);
      createInterface(child.stderr).on('line', check);
      void ended.then((end) => reject(new Error(`ended without '${text}': ${end.stdout}${end.stderr}`)));
    });
  return { child, ended, said };
}

export const llmbench = (...args: readonly string[]): Promise<Ended> => start(args).ended;

/** What `simulate` and `serve` print with `--json` when they are ready. Rejects if the process ends before. */
export function announced<T = { readonly url: string }>({
  child,
  ended,
}: Pick<Started, 'child' | 'ended'>): Promise<T> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (line: string) => resolve(JSON.parse(line) as T));
    void ended.then((end) => reject(new Error(end.stderr)));
  });
}
