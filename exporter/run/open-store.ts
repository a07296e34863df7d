import { openStore } from '../store/run-store.ts';
import type { RunStore } from '../store/run-store.ts';

/**
 * Opens a runs directory, and gives the runs that were finished on the way, because their process was gone, the report that
 * a run has when it ends by itself. The messages are to be told to the user. Throws `RunsDirectoryError`.
 */
export async function openStoreWithReports(runsDirectory: string): Promise<{ store: RunStore; messages: string[] }> {
  const { store, messages, recovered } = await openStore(runsDirectory);
  if (recovered.length === 0) return { store, messages };
  // Nearly always there is none, and what makes reports is much to load.
  const { writeRunFiles } = await import('./run-files.ts');
  const notes: string[] = [];
  for (const runId of recovered) notes.push(...(await writeRunFiles(store, runId, [])));
  return { store, messages: [...messages, ...notes] };
}
