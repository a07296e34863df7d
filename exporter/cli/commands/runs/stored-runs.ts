import { once } from 'node:events';
import type { IndexedRun } from '../../../store/index/rows.ts';
import {
  parseCondition,
  type Condition,
  namedRun,
  SelectionError,
  selectRuns,
} from '../../../store/index/select-runs.ts';
import { RunIndex } from '../../../store/index/run-index.ts';
import type { RunStore } from '../../../store/run-store.ts';
import type { StorageAccess, StorageLocation } from '../../../store/storage-location.ts';
import { CliError } from '../../failure.ts';
import { openRuns } from '../../open-runs.ts';
import { text, type Option } from '../../options/options.ts';
import { storageLocation } from '../../options/storage-options.ts';

export const RUNS_DIR = text('DIR', 'directory of the stored runs', 'runs');

/** `--store`: the runs of a team. */
export const STORE = storageLocation('location in S3-compatible object storage');

/** The given location. Throws a `CliError` if there is none. */
export function requiredStore(store: StorageLocation | null, usage: string): StorageLocation {
  if (store === null) throw new CliError(`--store is required: ${usage}`);
  return store;
}

/** `--where`: all conditions must match. */
export const WHERE: Option<readonly Condition[]> = {
  help: 'only matching runs, e.g. scenario=nightly, tag!=broken, model=llama*; may be repeated',
  value: 'FIELD=VALUE',
  multiple: true,
  parse: (given) => given.map(parseCondition),
  fallback: [],
};

/** Opens the runs directory of a command; an unreadable one is reported first. Throws a `CliError`. */
export function storeOf(runsDirectory: string, access?: StorageAccess): Promise<RunStore> {
  return openRuns(runsDirectory, (store) => store.names(), access);
}

/** The finished runs, newest first. */
export function indexedRuns(store: RunStore, conditions: readonly Condition[] = []): Promise<IndexedRun[]> {
  return RunIndex.use(store, (index) => index.runs(conditions));
}

/** Finds runs by id, by a unique prefix of it, or by `latest`. Throws a `CliError`. */
export async function namedRuns(store: RunStore, names: readonly string[]): Promise<IndexedRun[]> {
  const runs = await indexedRuns(store);
  return selecting(store, () => [...new Set(names.map((name) => namedRun(runs, name)))]);
}

/** Selects runs; a selector that is wrong becomes a `CliError` that says where runs were looked for. */
export function selecting<T>(store: RunStore, select: () => T): T {
  try {
    return select();
  } catch (error) {
    if (!(error instanceof SelectionError)) throw error;
    const where = error.problem === 'not_found' ? ` in ${store.place}` : '';
    const help = error.hint ?? (error.problem === 'not_found' ? '`llmbench runs` lists them' : null);
    throw new CliError(`${error.message}${where}${help === null ? '' : `; ${help}`}`);
  }
}

/** The positional run names; at least one. Throws a `CliError`. */
export function atLeastOne(names: readonly string[], usage: string): readonly string[] {
  if (names.length === 0) throw new CliError(`RUN is required: ${usage}; \`llmbench runs\` lists them`);
  return names;
}

/** Writes to stdout and waits for it to drain, so that long output is never held in memory. */
export async function written(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** How runs are selected, for the help of commands. */
export const SELECTOR_HELP =
  'RUNS is a list with commas of run ids (or unique prefixes, or `latest`), scenario:NAME, tag:TAG,\n' +
  'group:ID and last:N; `+` combines conditions: scenario:chat+last:6 is the last 6 runs of the scenario\n' +
  'chat.\n';

/** The readable finished runs that a selector names, oldest first, each once. Throws a `CliError`. */
export async function selectedRuns(store: RunStore, selector: string): Promise<readonly IndexedRun[]> {
  const all = await indexedRuns(store);
  return selecting(store, () => selectRuns(all, selector));
}
