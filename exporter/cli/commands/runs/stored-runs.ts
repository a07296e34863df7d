import { parseCondition } from '../../../store/index/run-filter.ts';
import type { Condition } from '../../../store/index/run-filter.ts';
import { RunIndex } from '../../../store/index/run-index.ts';
import type { IndexedRun } from '../../../store/index/rows.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { CliError } from '../../failure.ts';
import { openRuns } from '../../open-runs.ts';
import { text } from '../../options/options.ts';
import type { Option } from '../../options/options.ts';

export const RUNS_DIR = text('DIR', 'directory of the stored runs', 'runs');

/** `--where`: all conditions must match. */
export const WHERE: Option<readonly Condition[]> = {
  help: 'only matching runs, e.g. scenario=nightly, tag!=broken, model=llama*; may be repeated',
  value: 'FIELD=VALUE',
  multiple: true,
  parse: (given) => given.map(parseCondition),
  fallback: [],
};

/** Opens the runs directory of a command; an unreadable one is reported first. Throws a `CliError`. */
export function storeOf(runsDirectory: string): Promise<RunStore> {
  return openRuns(runsDirectory, (store) => store.names());
}

/** The finished runs, newest first. */
export function indexedRuns(store: RunStore, conditions: readonly Condition[] = []): Promise<IndexedRun[]> {
  return RunIndex.use(store, (index) => index.runs(conditions));
}

const MOST_CANDIDATES = 5;

/** Finds runs by id, by a unique prefix of it, or by `latest`. Throws a `CliError`. */
export async function namedRuns(store: RunStore, names: readonly string[]): Promise<IndexedRun[]> {
  const runs = await indexedRuns(store);
  const found = names.map((name) => namedRun(runs, name, store.directory));
  return [...new Set(found)];
}

/** Finds one run by id, by a unique prefix of it, or by `latest`. Throws a `CliError`. */
export function namedRun(runs: readonly IndexedRun[], name: string, directory: string): IndexedRun {
  const exact = runs.find(({ run_id }) => run_id === name) ?? (name === 'latest' ? runs[0] : undefined);
  if (exact !== undefined) return exact;
  const candidates = name === '' ? [] : runs.filter(({ run_id }) => run_id.startsWith(name));
  const [only, ...others] = candidates;
  if (only === undefined) {
    throw new CliError(`no run ${JSON.stringify(name)} in ${directory}; \`llmbench runs\` lists them`);
  }
  if (others.length > 0) {
    const some = candidates.slice(0, MOST_CANDIDATES).map(({ run_id }) => run_id);
    const more = candidates.length > some.length ? `, … (${candidates.length})` : '';
    throw new CliError(`${name} is a prefix of several runs: ${some.join(', ')}${more}`);
  }
  return only;
}

/** The positional run names; at least one. Throws a `CliError`. */
export function atLeastOne(names: readonly string[], usage: string): readonly string[] {
  if (names.length === 0) throw new CliError(`RUN is required: ${usage}; \`llmbench runs\` lists them`);
  return names;
}
