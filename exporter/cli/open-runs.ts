import { openStoreWithReports } from '../run/open-store.ts';
import type { RunStore } from '../store/run-store.ts';
import { RunsDirectoryError } from '../errors/store-errors.ts';
import { CliError } from './failure.ts';

/**
 * Opens the runs directory for a command and reports on stderr what was finished meanwhile. `check` is done before any
 * work on it. Throws a `CliError`.
 */
export async function openRuns(
  runsDirectory: string,
  check: (store: RunStore) => Promise<unknown> = () => Promise.resolve(),
): Promise<RunStore> {
  try {
    const { store, messages } = await openStoreWithReports(runsDirectory);
    for (const message of messages) process.stderr.write(`${message}\n`);
    await check(store);
    return store;
  } catch (error) {
    if (error instanceof RunsDirectoryError) throw new CliError(error.message);
    throw error;
  }
}
