import { openStore } from '../store/run-store.ts';
import type { RunStore } from '../store/run-store.ts';

/**
 * Opens a runs directory, and writes the report of runs that were finished while opening it because their process had
 * ended. The messages are for the user. Throws `RunsDirectoryError`.
 */
export async function openStoreWithReports(runsDirectory: string): Promise<{ store: RunStore; messages: string[] }> {
  const { store, messages, recovered } = await openStore(runsDirectory);
  if (recovered.length === 0) return { store, messages };
  // There is rarely one, and the code that writes reports takes long to load.
  const { writeRunFiles } = await import('./run-files.ts');
  const notes: string[] = [];
  for (const runId of recovered) notes.push(...(await writeRunFiles(store, runId, [])));
  return { store, messages: [...messages, ...notes] };
}
