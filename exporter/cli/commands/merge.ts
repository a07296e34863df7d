import { things } from '../../../core/text/things.ts';
import { writeRunFiles } from '../../run/run-files.ts';
import { mergeShards, ShardError } from '../../store/shards/merge-shards.ts';
import { codeOf, reasonOf, RunExistsError, RunsDirectoryError } from '../../errors/store-errors.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { flag, readArguments, text } from '../options/options.ts';
import { printing } from '../printing.ts';
import { resultTable } from '../tables/result-table.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the runs and of RUN.shards, which holds the shards', 'runs'),
  json: flag('print the result as JSON'),
};

const USAGE = 'llmbench merge RUN [options]';
const EXAMPLES = ['llmbench merge night-7', 'llmbench merge night-7 --runs-dir /shared/runs --json'];

/** Merges the shards that several machines measured with `run --shard` into one run. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'RUN', most: 1 });
  const [runId] = positionals;
  if (runId === undefined) throw new CliError('RUN is required (the --run-id of the shards): llmbench merge RUN');
  try {
    const store = await openRuns(values['runs-dir']);
    const { result, path, shards, notes } = await mergeShards(store, runId);
    const fileNotes = await writeRunFiles(store, runId, []);
    if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else
      process.stdout.write(
        `run         ${runId}  ${result.status}, of ${things(shards.length, 'shards')}\n${resultTable(result, printing())}${path}\n`,
      );
    for (const note of [...notes, ...fileNotes]) process.stderr.write(`${note}\n`);
    return result.status === 'completed' ? ExitCode.done : ExitCode.failed;
  } catch (error) {
    if (error instanceof ShardError) throw new CliError(error.message, ExitCode.failed);
    if (error instanceof RunExistsError)
      throw new CliError(`run ${runId} is in ${values['runs-dir']} already: its shards have been merged`);
    if (error instanceof RunsDirectoryError) throw new CliError(error.message);
    if (codeOf(error) !== null) throw new CliError(`${runId} was not stored: ${reasonOf(error)}`, ExitCode.failed);
    throw error;
  }
}
