import { ExpectedError, codeOf, isDiskFull, reasonOf, type ErrorCode } from '../errors/expected-error.ts';
import { writeMessage } from './terminal-text.ts';

/** Meaning of the exit codes, on which scripts rely; the README lists them. */
export const ExitCode = {
  /** The work was done, whatever the share of errors. */
  done: 0,
  /** It could not be done: no request succeeded, the server cannot be used, a file cannot be written. */
  failed: 1,
  /** Refused before the first request: a wrong flag or value. No run directory was made. */
  refused: 2,
  /** A gate (SLO, regression) was not met. */
  gate: 99,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** A failure that its message explains fully: what, where, what to do. Printed without a stack trace. */
export class CliError extends ExpectedError {
  override readonly name = 'CliError';

  constructor(message: string, exitCode: 1 | 2 | 130 = ExitCode.refused) {
    super(exitCode === ExitCode.refused ? 'refused' : exitCode === ExitCode.failed ? 'failed' : 'interrupted', message);
  }

  get exitCode(): number {
    return exitCodeOf(this);
  }
}

/** The one place that turns a kind of failure into an exit status. */
const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  refused: ExitCode.refused,
  configuration: ExitCode.refused,
  runs_directory: ExitCode.refused,
  no_start: ExitCode.refused,
  failed: ExitCode.failed,
  server: ExitCode.failed,
  storage: ExitCode.failed,
  // A stored file that no command can do without, and that the user can repair or move away.
  damaged: ExitCode.failed,
  not_stored: ExitCode.failed,
  interrupted: ExitCode.interrupted,
};

export const exitCodeOf = ({ code }: ExpectedError): number => EXIT_CODES[code];

/** Prints one line for an expected failure and the stack trace for any other. */
export function reportFailure(program: string, error: unknown): number {
  if (error instanceof ExpectedError) {
    writeMessage(process.stderr, `${program}: ${error.message}`);
    return exitCodeOf(error);
  }
  if (isDiskFull(codeOf(error))) {
    const { path } = error as { readonly path?: unknown };
    writeMessage(
      process.stderr,
      `${program}: ${typeof path === 'string' ? `${path}: ` : ''}${reasonOf(error)}; free space and repeat the command`,
    );
    return ExitCode.failed;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${program}: internal error, please report it: ${text}\n`);
  return ExitCode.failed;
}
