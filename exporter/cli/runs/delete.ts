import { things } from '../../../core/measures/things.ts';
import { deleteRun } from '../../store/delete-run.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { reasonOf } from '../../store/store-errors.ts';
import { CliError, ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../help-text.ts';
import { flag, readArguments } from '../options.ts';
import { confirmed } from './confirm.ts';
import { runListing } from './run-listing.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

const OPTIONS = { 'runs-dir': RUNS_DIR, yes: flag('do not ask') };
const USAGE = 'llmbench runs delete RUN… [options]';
const EXAMPLES = ['llmbench runs delete 20261121T190000Z-abcdefghij', 'llmbench runs delete broken-1 broken-2 --yes'];

/** Removes runs for good. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'RUN', most: Infinity });
  const names = atLeastOne(positionals, USAGE);
  const store = await storeOf(values['runs-dir']);
  return deleteRuns(store, await namedRuns(store, names), values.yes);
}

/** Lists the runs, asks unless told not to, and removes them. */
export async function deleteRuns(store: RunStore, runs: readonly IndexedRun[], yes: boolean): Promise<number> {
  const count = things(runs.length, 'runs');
  if (!yes) {
    for (const line of runListing(runs, process.stderr.isTTY ? process.stderr.columns : Infinity)) {
      process.stderr.write(`${line}\n`);
    }
    if (!(await confirmed(`Delete ${count} for good?`))) {
      process.stdout.write('nothing was deleted\n');
      return ExitCode.done;
    }
  }
  for (const { run_id } of runs) {
    try {
      const deleted = await deleteRun(store, run_id);
      process.stdout.write(`${run_id}  ${deleted ? 'deleted' : 'was gone already'}\n`);
    } catch (error) {
      throw new CliError(`${run_id} could not be deleted: ${reasonOf(error)}`, ExitCode.failed);
    }
  }
  return ExitCode.done;
}
