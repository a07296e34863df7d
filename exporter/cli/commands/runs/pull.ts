import { things } from '../../../../core/text/quantities.ts';
import { isRunId, timeOfRunId, oldestFirst } from '../../../../core/run/run-id.ts';
import { StorageError } from '../../../errors/expected-error.ts';
import { downloadRun, readManifest } from '../../../store/object-storage/download-run.ts';
import { ObjectStorage } from '../../../store/object-storage/object-storage.ts';
import { namedRun, SelectionError, type SelectableRun } from '../../../store/index/select-runs.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { openRuns } from '../../open-runs.ts';
import { command } from '../../command.ts';
import { flag } from '../../options/options.ts';
import { STORAGE_OPTIONS, storageAccess } from '../../options/storage-options.ts';
import { requiredStore, RUNS_DIR, STORE } from './stored-runs.ts';

export const OPTIONS = { 'runs-dir': RUNS_DIR, store: STORE, ...STORAGE_OPTIONS, json: flag('print JSON') };
const USAGE = 'llmbench runs pull [RUN…] --store s3://BUCKET/PREFIX [options]';
const EXAMPLES = [
  'llmbench runs pull --store s3://benchmarks/team-a',
  'llmbench runs pull 20261121T19 latest --store s3://benchmarks/team-a --runs-dir copies',
];

interface PulledRun {
  readonly run_id: string;
  readonly state: 'downloaded' | 'present' | 'incomplete';
}

/** Downloads runs, all that the runs directory lacks unless named. Exit code 1 when one of them could not be downloaded. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } },
  async ({ options: values, positionals }) => {
    const location = requiredStore(values.store, USAGE);
    const store = await openRuns(values['runs-dir'], (opened) => opened.checkWritable());
    const work = async (storage: ObjectStorage): Promise<number> => {
      const found = (await storage.folders())
        .filter(isRunId)
        .map(byName)
        .sort((a, b) => oldestFirst(b, a));
      const here = new Set(await store.names());
      const named = positionals.map((name) => foundRun(found, name, storage.url));
      const missing = found.map(({ run_id }) => run_id).filter((runId) => !here.has(runId));
      const wanted = positionals.length === 0 ? missing : [...new Set(named)];
      const pulled: PulledRun[] = [];
      let failed = 0;
      for (const runId of wanted.reverse()) {
        const state = await pullRun(storage, store, runId, here.has(runId));
        if (state === null || (state === 'incomplete' && positionals.length > 0)) failed += 1;
        if (state !== null) pulled.push({ run_id: runId, state });
        if (state !== null && !values.json) process.stdout.write(`${runId}  ${LINES[state]}\n`);
      }
      const downloaded = pulled.filter(({ state }) => state === 'downloaded').length;
      process.stdout.write(
        values.json
          ? `${JSON.stringify(pulled, null, 2)}\n`
          : `${things(downloaded, 'runs')} downloaded from ${storage.url} to ${store.place}\n`,
      );
      return failed > 0 ? ExitCode.failed : ExitCode.done;
    };
    return ObjectStorage.use(location, storageAccess(values), work);
  },
);

const LINES: Readonly<Record<PulledRun['state'], string>> = {
  downloaded: 'downloaded',
  present: 'there already',
  incomplete: 'not complete: it is being uploaded, or its upload was interrupted',
};

/** Null if it was reported why it could not be downloaded. Throws a `StorageError` that concerns all runs. */
async function pullRun(
  storage: ObjectStorage,
  store: RunStore,
  runId: string,
  isHere: boolean,
): Promise<PulledRun['state'] | null> {
  if (isHere) return 'present';
  try {
    const manifest = await readManifest(storage, runId);
    if (manifest === null) return 'incomplete';
    return (await downloadRun(storage, store, runId, manifest, () => true)) ? 'downloaded' : 'present';
  } catch (error) {
    if (!(error instanceof StorageError) || error.problem !== 'damaged') throw error;
    process.stderr.write(`${runId}  not downloaded: ${error.message}\n`);
    return null;
  }
}

/** What is known of a run before it is downloaded. */
function byName(run_id: string): SelectableRun {
  return { run_id, start: timeOfRunId(run_id), scenario: null, group_id: null, tags: [], damage: null };
}

/** A run by its ID, a unique prefix of it, or `latest`. Throws a `CliError`. */
function foundRun(runs: readonly SelectableRun[], name: string, url: string): string {
  try {
    return namedRun(runs, name).run_id;
  } catch (error) {
    if (error instanceof SelectionError) throw new CliError(`${error.message} in ${url}`);
    throw error;
  }
}
