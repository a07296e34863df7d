import { openStore, type RunListing, type RunStore } from '../store/run-store.ts';
import { RunsDirectoryError } from '../store/store-errors.ts';
import { CliError, ExitCode } from './failure.ts';
import { asksForHelp, flag, helpText, integer, readOptions, text } from './options.ts';
import { resultTable } from './result-table.ts';

const OPTIONS = {
  'runs-dir': text('DIR', 'where runs are kept', 'runs'),
  'run-id': text('ID', 'show this run instead of the list', null),
  limit: integer('how many of the newest runs to list', { min: 1, max: 100_000 }, 20),
  json: flag('print JSON'),
};

const EXAMPLES = ['llmbench runs', 'llmbench runs --run-id 20261121T190000Z-abcdefghij'];

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText('llmbench runs [options]', OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  try {
    const { store, messages } = await openStore(options['runs-dir']);
    for (const message of messages) process.stderr.write(`${message}\n`);
    return options['run-id'] === null
      ? await list(store, options.limit, options.json)
      : await show(store, options['run-id'], options.json);
  } catch (error) {
    if (error instanceof RunsDirectoryError) throw new CliError(error.message);
    throw error;
  }
}

async function list(store: RunStore, limit: number, json: boolean): Promise<number> {
  const all = await store.list();
  const shown = all.slice(0, limit);
  if (json) {
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return ExitCode.done;
  }
  if (all.length === 0) process.stdout.write(`no finished runs in ${store.directory}\n`);
  for (const listing of shown) process.stdout.write(`${line(listing)}\n`);
  if (all.length > shown.length) process.stdout.write(`… and ${all.length - shown.length} older (--limit)\n`);
  return ExitCode.done;
}

function line({ run_id, run, damage }: RunListing): string {
  if (run === null) return `${run_id}  damaged: ${damage}`;
  const { load, model } = run.comparison_key;
  const amount = load.concurrency === null ? load.mode : `concurrency ${load.concurrency}`;
  return `${run_id}  ${run.status.padEnd(9)}  ${run.scenario}  ${model}  ${amount}  ${run.target.origin}`;
}

async function show(store: RunStore, runId: string, json: boolean): Promise<number> {
  const found = (await store.list()).find((listing) => listing.run_id === runId);
  if (found === undefined) throw new CliError(`no run ${runId} in ${store.directory}; \`llmbench runs\` lists them`);
  if (found.run === null) throw new CliError(`${runId}: ${found.damage}`, ExitCode.failed);
  const result = await store.readResult(runId);
  process.stdout.write(
    json ? `${JSON.stringify(result, null, 2)}\n` : `${line(found)}\n${resultTable(result)}${found.path}\n`,
  );
  return ExitCode.done;
}
