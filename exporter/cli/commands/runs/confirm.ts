import { createInterface } from 'node:readline/promises';
import { CliError } from '../../failure.ts';

/** Asks for confirmation; refuses when stdin is not a terminal. Throws a `CliError`. */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError(`${question} stdin is not a terminal: pass --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
