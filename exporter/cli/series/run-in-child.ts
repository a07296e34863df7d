import { spawn, type ChildProcess } from 'node:child_process';
import type { ResultFile } from '../../../core/run/result.ts';
import { CliError, ExitCode } from '../failure.ts';
import { SERIALIZATION, SERIES_VARIABLE } from './page-messages.ts';

/** A result is far smaller. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The parent judges, also where the environment or a scenario file says --check. */
const AS_PART_OF_A_SERIES = ['--check=false', '--json'];

export interface RunInChild {
  /** Of `llmbench run`. */
  readonly exitCode: number;
  /** Null when the run ended without one. */
  readonly result: ResultFile | null;
}

/**
 * Performs `llmbench run` with these options in a process of its own, so that each run of a series starts with a fresh client.
 * Progress and messages go to stderr. Signals reach the child through the terminal; SIGTERM and SIGHUP are passed on. `started`
 * is called with the child, which hands its live metrics to this process.
 */
export async function runInChild(
  options: readonly string[],
  started: (child: ChildProcess) => void,
): Promise<RunInChild> {
  const [launcher = ''] = process.argv.slice(1);
  const child = spawn(process.execPath, [launcher, 'run', ...options, ...AS_PART_OF_A_SERIES], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: SERIALIZATION,
    env: { ...process.env, [SERIES_VARIABLE]: String(process.pid) },
  });
  started(child);
  // A terminal that closes sends SIGHUP to the child as well, which takes two as one.
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  const stay = (): void => undefined;
  process.on('SIGTERM', passOn);
  process.on('SIGHUP', passOn);
  // The terminal sends Ctrl-C to the child as well; this process waits for its result.
  process.on('SIGINT', stay);
  try {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
      if (output.length > MAX_OUTPUT_BYTES) child.kill('SIGTERM');
    });
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) =>
        reject(new CliError(`llmbench run cannot be started: ${error.message}`, ExitCode.failed)),
      );
      child.once('close', (code) => resolve(code ?? ExitCode.failed));
    });
    return { exitCode, result: output.trim() === '' ? null : (JSON.parse(output) as ResultFile) };
  } finally {
    process.off('SIGTERM', passOn);
    process.off('SIGHUP', passOn);
    process.off('SIGINT', stay);
  }
}
