import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError, ExitCode } from './failure.ts';

const LAUNCHER = process.argv[1] ?? '';
const STOP_WITHIN_MS = 5_000;

/** A child process that ends with this one. */
export interface StartedProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts another llmbench command in a process of its own and waits for the one JSON line with which it says that it is
 * ready. It is in a process group of its own, so that Ctrl-C reaches only the parent, which then stops it in order.
 */
export async function startCommand<Ready>(
  args: readonly string[],
): Promise<StartedProcess & { readonly ready: Ready }> {
  const child = spawn(process.execPath, [LAUNCHER, ...args, '--json'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const started = asStartedProcess(child, `llmbench ${args[0] ?? ''}`);
  const ready = JSON.parse(await firstLine(child, `llmbench ${args[0] ?? ''}`)) as Ready;
  return { ...started, ready };
}

function asStartedProcess(child: ChildProcess, name: string): StartedProcess {
  if (child.pid === undefined) throw new CliError(`${name} could not be started`, ExitCode.failed);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(force);
  };
  return { pid: child.pid, stop };
}

function firstLine(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('a command is started with pipes');
    let complaint = '';
    stderr.setEncoding('utf8').on('data', (piece: string) => (complaint = (complaint + piece).slice(-500)));
    child.once('exit', (code) =>
      reject(new CliError(`${name} ended with ${String(code)}: ${complaint.trim()}`, ExitCode.failed)),
    );
    createInterface(stdout).once('line', (line) => {
      stdout.resume();
      resolve(line);
    });
  });
}
