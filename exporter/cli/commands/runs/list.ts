import { RunIndex } from '../../../store/index/run-index.ts';
import { storageUrl } from '../../../store/storage-location.ts';
import { ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag, integer, text } from '../../options/options.ts';
import { storageAccess, storageLocation, STORAGE_OPTIONS } from '../../options/storage-options.ts';
import { paintOn } from '../../tables/layout.ts';
import { withFigures, runListing } from './run-listing.ts';
import { RUNS_DIR, storeOf, WHERE } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  store: storageLocation('list the runs of this location in object storage, like --runs-dir'),
  ...STORAGE_OPTIONS,
  where: WHERE,
  limit: integer('number of the newest runs to list', { min: 1, max: 1_000_000 }, 20),
  'run-id': text('ID', 'show this run instead of the list, like `runs show ID`', null),
  json: flag('print all fields of each run as JSON'),
};

const USAGE = 'llmbench runs [list] [options]';
const EXAMPLES = [
  'llmbench runs',
  'llmbench runs list --where scenario=nightly --where status=completed --limit 100',
  'llmbench runs list --store s3://benchmarks/team-a',
  "llmbench runs list --where 'model=llama*' --where tag!=broken --json",
];

/** Lists the finished runs with their key figures, newest first. */
export const run = command(OPTIONS, { usage: USAGE, examples: EXAMPLES }, async ({ options }) => {
  const directory = options.store === null ? options['runs-dir'] : storageUrl(options.store);
  if (options['run-id'] !== null) {
    const { show } = await import('./show.ts');
    return show(directory, options['run-id'], options.json);
  }
  const store = await storeOf(directory, storageAccess(options));
  const { found, matching } = await RunIndex.use(store, (index) => ({
    found: index.runs(options.where, options.limit),
    matching: index.count(options.where),
  }));
  const runs = await withFigures(store, found);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(runs, null, 2)}\n`);
    return ExitCode.done;
  }
  if (matching === 0) {
    const which = options.where.length === 0 ? 'no finished runs' : 'no runs match';
    process.stdout.write(`${which} in ${store.place}\n`);
  }
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  for (const line of runListing(runs, width, paintOn(process.stdout))) process.stdout.write(`${line}\n`);
  if (matching > runs.length) process.stdout.write(`… and ${matching - runs.length} older (--limit)\n`);
  return ExitCode.done;
});
