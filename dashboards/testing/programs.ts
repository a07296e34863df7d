import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../bin/llmbench.js', import.meta.url));

/** A command of llmbench that runs until it is stopped. */
export interface Program {
  /** The JSON with which it said that it was ready. */
  readonly ready: unknown;
  stop(): Promise<void>;
}

/** Starts `llmbench <args> --port 0 --json` and resolves with the line in which it says that it is ready. */
export async function startProgram(...args: string[]): Promise<Program> {
  const child = llmbench(...args, '--port', '0', '--json');
  const stop = (): Promise<void> => end(child);
  if (child.stdout === null) throw new Error('a command is started with pipes');
  const complaint = textOf(child.stderr);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    once(child, 'exit').then(async () => {
      const reason = (await complaint).slice(-500);
      throw new Error(`llmbench ${args.join(' ')} ended with status ${child.exitCode}: ${reason}`);
    }),
  ]);
  return { ready: JSON.parse(line) as unknown, stop };
}

/** Runs a command of llmbench to its end and resolves with what it wrote. */
export async function runProgram(...args: string[]): Promise<string> {
  const child = llmbench(...args);
  const exited = once(child, 'exit');
  const [output, complaint] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await exited;
  if (child.exitCode === 0) return output;
  throw new Error(`llmbench ${args[0] ?? ''} ended with status ${child.exitCode}: ${complaint.slice(-500)}`);
}

function llmbench(...args: string[]): ChildProcess {
  return spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function textOf(stream: ChildProcess['stdout']): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const slow = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(slow);
}
