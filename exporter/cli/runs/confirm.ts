import { createInterface } from 'node:readline/promises';
import { CliError } from '../failure.ts';

/** Asks a person; without one (`stdin` is no terminal) the work is refused. Throws a `CliError`. */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError(`${question} Nobody can be asked here: give --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
