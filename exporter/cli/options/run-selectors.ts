import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { indexedRuns, namedRun } from '../commands/runs/stored-runs.ts';
import { CliError } from '../failure.ts';

/** How runs are selected, for the help of commands. */
export const SELECTOR_HELP =
  'RUNS is a list with commas of run ids (or unique prefixes, or `latest`), scenario:NAME, tag:TAG and last:N;\n' +
  '`+` combines conditions: scenario:chat+last:6 is the last 6 runs of the scenario chat.\n';

/**
 * The readable finished runs that a selector names, oldest first, each once. Throws a `CliError` when a part of it is wrong
 * or matches no run.
 */
export async function selectedRuns(store: RunStore, selector: string): Promise<readonly IndexedRun[]> {
  const all = await indexedRuns(store);
  const found = new Set(selector.split(',').flatMap((part) => selectedBy(part.trim(), all, store.directory)));
  return all.filter((run) => found.has(run)).reverse();
}

/** `runs` newest first. */
function selectedBy(part: string, runs: readonly IndexedRun[], directory: string): readonly IndexedRun[] {
  if (!/^(scenario|tag|last):/.test(part)) return [readable(namedRun(runs, part, directory))];
  const conditions = part.split(/\+(?=(?:scenario|tag|last):)/);
  const selected = conditions.reduce(
    narrowed,
    runs.filter(({ damage }) => damage === null),
  );
  if (selected.length === 0) throw new CliError(`no run matches ${part} in ${directory}; \`llmbench runs\` lists them`);
  return selected;
}

function readable(run: IndexedRun): IndexedRun {
  if (run.damage !== null) throw new CliError(`${run.run_id} cannot be read: ${run.damage}`);
  return run;
}

function narrowed(runs: readonly IndexedRun[], condition: string): readonly IndexedRun[] {
  const [, kind, value = ''] = /^(scenario|tag|last):(.*)$/.exec(condition) ?? [];
  if (kind === 'scenario') return runs.filter(({ scenario }) => scenario === value);
  if (kind === 'tag') return runs.filter(({ tags }) => tags.includes(value));
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 1) throw new CliError(`${condition}: last:N requires a positive integer`);
  return runs.slice(0, count);
}
