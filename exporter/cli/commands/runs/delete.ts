import { createInterface } from 'node:readline/promises';
import { things } from '../../../../core/text/quantities.ts';
import { deleteRun } from '../../../store/changes/delete-run.ts';
import type { IndexedRun } from '../../../store/index/rows.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { reasonOf } from '../../../errors/expected-error.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag } from '../../options/options.ts';
import { runListing } from './run-listing.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

export const OPTIONS = { 'runs-dir': RUNS_DIR, yes: flag('do not ask for confirmation') };
const USAGE = 'llmbench runs delete RUN… [options]';
const EXAMPLES = ['llmbench runs delete 20261121T190000Z-abcdefghij', 'llmbench runs delete broken-1 broken-2 --yes'];

/** Deletes runs permanently. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } },
  async ({ options: values, positionals }) => {
    const names = atLeastOne(positionals, USAGE);
    const store = await storeOf(values['runs-dir']);
    return deleteRuns(store, await namedRuns(store, names), values.yes);
  },
);

/** Lists the runs, requests confirmation unless --yes is given, and deletes them. */
export async function deleteRuns(store: RunStore, runs: readonly IndexedRun[], yes: boolean): Promise<number> {
  const count = things(runs.length, 'runs');
  if (!yes) {
    for (const line of runListing(runs, process.stderr.isTTY ? process.stderr.columns : Infinity)) {
      process.stderr.write(`${line}\n`);
    }
    if (!(await confirmed(`Delete ${count} permanently?`))) {
      process.stdout.write('nothing was deleted\n');
      return ExitCode.done;
    }
  }
  for (const { run_id } of runs) {
    try {
      const deleted = await deleteRun(store, run_id);
      process.stdout.write(`${run_id}  ${deleted ? 'deleted' : 'already deleted'}\n`);
    } catch (error) {
      throw new CliError(`${run_id} could not be deleted: ${reasonOf(error)}`, ExitCode.failed);
    }
  }
  return ExitCode.done;
}

/** Asks for confirmation; refuses when stdin is not a terminal. Throws a `CliError`. */
async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError(`${question} stdin is not a terminal: pass --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
