import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ExpectedError, codeOf, reasonOf } from '../errors/expected-error.ts';

/** How a command ended, as a shell reports it. */
export interface CommandEnd {
  /** Its exit code, or 128 and the number of the signal that ended it. */
  readonly exitCode: number;
  /** In one line, for a command that failed; null if it succeeded. */
  readonly failure: string | null;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command with this process' own input and outputs, and resolves when it has ended. Signals are passed on; Ctrl-C and
 * the end of a terminal reach the command without help, because it is in the same process group. Throws an
 * `ExpectedError` if it cannot be started.
 */
export function runCommand([program = '', ...args]: readonly string[]): Promise<CommandEnd> {
  const isOfTerminal = process.stdin.isTTY;
  const forwarders = FORWARDED.map((signal) => {
    const forward = (): void => {
      if (signal === 'SIGTERM' || !isOfTerminal) child.kill(signal);
    };
    process.on(signal, forward);
    return (): void => void process.off(signal, forward);
  });
  // After the handlers: the command may be running, and a signal may come, before this returns.
  const child = spawn(program, args, { stdio: 'inherit' });
  return new Promise<CommandEnd>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new ExpectedError('refused', `cannot start ${program}: ${reasonToStart(error)}`)),
    );
    child.once('exit', (code, signal) => resolve(endOf(program, code, signal)));
  }).finally(() => forwarders.forEach((remove) => remove()));
}

function endOf(program: string, code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal !== null)
    return { exitCode: 128 + constants.signals[signal], failure: `${program} was ended by ${signal}` };
  const exitCode = code ?? 1;
  return { exitCode, failure: exitCode === 0 ? null : `${program} ended with exit code ${exitCode}` };
}

const reasonToStart = (error: unknown): string =>
  codeOf(error) === 'ENOENT' ? 'no program of this name was found' : reasonOf(error);
