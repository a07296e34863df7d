import { fileStamp } from '../files/file-stamp.ts';
import { listScenarioPaths, type ScenarioPaths } from '../store/scenarios/scenario-folders.ts';
import type { CapacityFile } from '../../core/run/capacity.ts';
import { listCapacityPaths, readCapacityFile } from '../store/scenarios/capacity-files.ts';
import { readEntries } from '../store/scenarios/append-log.ts';
import { foldEntries, type Baseline } from './baseline.ts';
import { DamagedRunError } from '../errors/store-errors.ts';
import { newestVerdicts, readVerdictFile, type VerdictEntry } from './verdict-log.ts';
import { verdictSummary, type VerdictSummary } from './verdict-summary.ts';

/** Where a scenario stands, from its own files alone. */
export interface ScenarioState {
  readonly scenario: string;
  /** The newest verdict; null when nothing was judged. */
  readonly newest: VerdictEntry | null;
  /**
   * The verdict that found a regression which nothing has cleared: neither a later unchanged or improved verdict, nor runs
   * accepted or pinned since. An undecided or suspect verdict in between clears nothing.
   */
  readonly regression: VerdictEntry | null;
  /** Verdicts without a decision since the last one that decided. */
  readonly undecidedInARow: number;
  readonly baseline: Pick<Baseline, 'accepted' | 'pinned'>;
  /** The newest verdict on each judged run, by its id. */
  readonly verdictOf: ReadonlyMap<string, VerdictSummary>;
  /** The newest search for the capacity that has an answer, for each load and set of objectives. */
  readonly capacities: readonly CapacityFile[];
}

/** Searches of a scenario that are read, the last by name; an ID begins with the time unless the user sets it. */
const MOST_SEARCHES = 50;

/** The states of all scenarios of a runs directory. A scenario whose files have not changed is not read again. */
export class ScenarioStates {
  readonly #runsDirectory: string;
  readonly #known = new Map<string, { readonly stamp: string; readonly state: ScenarioState | null }>();
  #states: readonly ScenarioState[] = [];

  readonly #leftOut: ((line: string) => void) | null;

  /** `leftOut` receives a line for a scenario whose files cannot be read, which is then left out; null: it is an error. */
  constructor(runsDirectory: string, leftOut: ((line: string) => void) | null = null) {
    this.#runsDirectory = runsDirectory;
    this.#leftOut = leftOut;
  }

  /** In the order of the folders; the same array as long as nothing has changed. Throws what the file system says. */
  async read(): Promise<readonly ScenarioState[]> {
    const paths = await listScenarioPaths(this.#runsDirectory);
    let changed = paths.length !== this.#known.size;
    for (const each of paths) {
      const searches = (await listCapacityPaths(each.capacity)).slice(-MOST_SEARCHES);
      const stamp = [each.baseline, each.verdicts, ...searches].map(fileStamp).join(' ');
      if (this.#known.get(each.folder)?.stamp === stamp) continue;
      this.#known.set(each.folder, { stamp, state: await this.#state(each, searches) });
      changed = true;
    }
    const there = new Set(paths.map(({ folder }) => folder));
    for (const folder of this.#known.keys()) if (!there.has(folder)) this.#known.delete(folder);
    if (changed) this.#states = paths.flatMap(({ folder }) => this.#known.get(folder)?.state ?? []);
    return this.#states;
  }

  async #state(paths: ScenarioPaths, searches: readonly string[]): Promise<ScenarioState | null> {
    try {
      return await readState(paths, searches);
    } catch (error) {
      if (this.#leftOut === null || !(error instanceof DamagedRunError)) throw error;
      this.#leftOut(`a scenario is left out: ${error.message}`);
      return null;
    }
  }
}

async function readState(paths: ScenarioPaths, searches: readonly string[]): Promise<ScenarioState | null> {
  const { entries: changes } = await readEntries(paths.baseline);
  return stateOf((await readVerdictFile(paths.verdicts)).entries, changes, await newestCapacities(searches));
}

/** Where the scenario of these lines and searches stands; null when they are of none. */
export function stateOf(
  verdicts: readonly VerdictEntry[],
  changes: readonly Readonly<Record<string, unknown>>[],
  capacities: readonly CapacityFile[] = [],
): ScenarioState | null {
  const baseline = foldEntries(changes);
  const scenario = verdicts.at(-1)?.scenario ?? baseline.entries.at(-1)?.scenario ?? capacities[0]?.scenario;
  if (scenario === undefined) return null;
  const newest = verdicts.at(-1) ?? null;
  return {
    scenario,
    newest,
    baseline,
    regression: openRegression(verdicts, baseline),
    undecidedInARow: undecidedInARow(verdicts),
    verdictOf: newestVerdicts(verdicts, verdictSummary),
    capacities,
  };
}

/** A search that cannot be read, or that has no answer, replaces no other. */
async function newestCapacities(searches: readonly string[]): Promise<readonly CapacityFile[]> {
  const read = await Promise.all(searches.map((path) => readCapacityFile(path).catch(() => null)));
  const answered = read.filter((file) => file !== null && (file.holds !== null || file.fails !== null));
  const newestLast = (answered as readonly CapacityFile[]).toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
  const key = ({ load, objectives }: CapacityFile): string => [load, ...objectives.map(({ text }) => text)].join(' ');
  return [...new Map(newestLast.map((file) => [key(file), file])).values()];
}

function openRegression(
  verdicts: readonly VerdictEntry[],
  { entries }: Pick<Baseline, 'entries'>,
): VerdictEntry | null {
  const decided = verdicts.findLast(({ verdict }) => verdict !== 'undecided' && verdict !== 'suspect');
  if (decided?.verdict !== 'regressed') return null;
  const moved = entries.some(({ action, at }) => (action === 'accept' || action === 'pin') && at > decided.at);
  return moved ? null : decided;
}

function undecidedInARow(verdicts: readonly VerdictEntry[]): number {
  const decided = verdicts.findLastIndex(({ verdict }) => verdict !== 'undecided');
  return verdicts.length - 1 - decided;
}
