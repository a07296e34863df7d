import { RunIndex } from '../../../store/index/run-index.ts';
import { ExitCode } from '../../failure.ts';
import { asksForHelp, helpText } from '../../options/help-text.ts';
import { flag, integer, readOptions, text } from '../../options/options.ts';
import { withFigures } from './run-figures.ts';
import { runListing } from './run-listing.ts';
import { RUNS_DIR, storeOf, WHERE } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  where: WHERE,
  limit: integer('number of the newest runs to list', { min: 1, max: 1_000_000 }, 20),
  'run-id': text('ID', 'show this run instead of the list, like `runs show ID`', null),
  json: flag('print all fields of each run as JSON'),
};

const USAGE = 'llmbench runs [list] [options]';
const EXAMPLES = [
  'llmbench runs',
  'llmbench runs list --where scenario=nightly --where status=completed --limit 100',
  "llmbench runs list --where 'model=llama*' --where tag!=broken --json",
];

/** Lists the finished runs with their key figures, newest first. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(OPTIONS, argv, process.env);
  if (options['run-id'] !== null) {
    const { show } = await import('./show.ts');
    return show(options['runs-dir'], options['run-id'], options.json);
  }
  const store = await storeOf(options['runs-dir']);
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
    process.stdout.write(`${which} in ${store.directory}\n`);
  }
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  for (const line of runListing(runs, width)) process.stdout.write(`${line}\n`);
  if (matching > runs.length) process.stdout.write(`… and ${matching - runs.length} older (--limit)\n`);
  return ExitCode.done;
}
