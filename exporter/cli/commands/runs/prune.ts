import { isOrdered } from '../../../../core/run/run-id.ts';
import { things } from '../../../../core/text/quantities.ts';
import { prunedRuns } from '../../../store/changes/delete-run.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag, integer } from '../../options/options.ts';
import { deleteRuns } from './delete.ts';
import { runListing } from './run-listing.ts';
import { indexedRuns, RUNS_DIR, storeOf, WHERE } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  'keep-last': integer('keep the newest N runs of each scenario', { min: 0, max: 1_000_000 }, null),
  'keep-days': integer(
    'keep runs that started within the last N days, or were imported then and have no start',
    { min: 0, max: 100_000 },
    null,
  ),
  'keep-tagged': flag('keep tagged runs'),
  where: { ...WHERE, help: 'consider only runs that match; all others are kept' },
  'dry-run': flag('only print the runs that would be deleted'),
  yes: flag('do not ask for confirmation'),
};
const USAGE = 'llmbench runs prune (--keep-last N | --keep-days N) [options]';
const EXAMPLES = [
  'llmbench runs prune --keep-last 50 --keep-tagged --dry-run',
  'llmbench runs prune --keep-days 30 --keep-tagged --where scenario=nightly --yes',
];

/** Deletes the runs that no rule keeps; one matching rule is enough to keep a run. */
export const run = command(OPTIONS, { usage: USAGE, examples: EXAMPLES }, async ({ options }) => {
  const rules = {
    keepLast: options['keep-last'],
    keepDays: options['keep-days'],
    keepTagged: options['keep-tagged'],
  };
  if (rules.keepLast === null && rules.keepDays === null) {
    throw new CliError('--keep-last N or --keep-days N is required; --keep-tagged also keeps tagged runs');
  }
  const store = await storeOf(options['runs-dir']);
  const candidates = await indexedRuns(store, options.where);
  const pruned = prunedRuns(candidates, rules, new Date());
  const kept = candidates.length - pruned.length;
  const deleted = new Set(pruned);
  const unordered = candidates.filter((run) => run.damage === null && !isOrdered(run) && !deleted.has(run)).length;
  if (unordered > 0)
    process.stderr.write(
      `${things(unordered, 'runs')} kept, because without a start time and a time of import it is not known how old they are; ` +
        '`llmbench import` of their files again records it\n',
    );
  if (pruned.length === 0) {
    process.stdout.write(`nothing to delete: the rules keep ${kept === 1 ? 'the 1 run' : `all ${kept} runs`}\n`);
    return ExitCode.done;
  }
  if (!options['dry-run']) return deleteRuns(store, pruned, options.yes);
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  for (const line of runListing(pruned, width)) process.stdout.write(`${line}\n`);
  process.stdout.write(`${things(pruned.length, 'runs')} would be deleted, ${kept} kept\n`);
  return ExitCode.done;
});
