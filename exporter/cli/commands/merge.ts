import { things } from '../../../core/text/quantities.ts';
import { writeRunFiles } from '../../run/run-files.ts';
import { mergeShards, type MergedRun } from '../../store/shards/merge-shards.ts';
import { codeOf, reasonOf, RunExistsError } from '../../errors/expected-error.ts';
import type { RunShards } from '../../../core/run/run.ts';
import { shardsText } from '../../store/run-paths.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { command } from '../command.ts';
import { flag, text, type OptionValues } from '../options/options.ts';
import { storageAccess, storageLocation, STORAGE_OPTIONS } from '../options/storage-options.ts';
import { printing } from '../terminal-text.ts';
import { resultTable } from '../tables/result-table.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the runs and of RUN.shards, which holds the shards', 'runs'),
  store: storageLocation('merge the shards that were uploaded to this location in object storage, and upload the run'),
  ...STORAGE_OPTIONS,
  'allow-missing': flag('merge without the shards that are missing: the run is marked incomplete'),
  json: flag('print the result as JSON'),
};

const USAGE = 'llmbench merge RUN [options]';
const EXAMPLES = [
  'llmbench merge night-7',
  'llmbench merge night-7 --runs-dir /shared/runs --json',
  'llmbench merge night-7 --store s3://benchmarks/team-a --allow-missing',
];

/** Merges the shards that several machines measured with `run --shard` into one run. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: 1 } },
  async ({ options: values, positionals }) => {
    const [runId] = positionals;
    if (runId === undefined) throw new CliError('RUN is required (the --run-id of the shards): llmbench merge RUN');
    try {
      const store = await openRuns(values['runs-dir']);
      const { result, path, shards, notes } = await merged(store, runId, values);
      if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
      else
        process.stdout.write(
          `run         ${runId}  ${result.status}, ${shardCount(shards)}\n${resultTable(result, printing())}${path}\n`,
        );
      for (const note of notes) process.stderr.write(`${note}\n`);
      return result.status === 'completed' ? ExitCode.done : ExitCode.failed;
    } catch (error) {
      if (error instanceof RunExistsError)
        throw new CliError(`run ${runId} is in ${values['runs-dir']} already: its shards have been merged`);
      if (codeOf(error) !== null) throw new CliError(`${runId} was not stored: ${reasonOf(error)}`, ExitCode.failed);
      throw error;
    }
  },
);

async function merged(store: RunStore, runId: string, values: OptionValues<typeof OPTIONS>): Promise<MergedRun> {
  const allowsMissing = values['allow-missing'];
  if (values.store !== null) {
    const { ObjectStorage } = await import('../../store/object-storage/object-storage.ts');
    const { mergeUploaded } = await import('../../run/shard-meeting.ts');
    return ObjectStorage.use(values.store, storageAccess(values), (storage) =>
      mergeUploaded(storage, store, runId, allowsMissing),
    );
  }
  const made = await mergeShards(store, runId, allowsMissing);
  return { ...made, notes: [...made.notes, ...(await writeRunFiles(store, runId, []))] };
}

function shardCount({ count, missing }: RunShards): string {
  const whole = `of ${things(count, 'shards')}`;
  return missing.length === 0 ? whole : `${whole}, INCOMPLETE: without ${shardsText(missing)}`;
}
