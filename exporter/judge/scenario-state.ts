import { fileStamp } from '../files/file-stamp.ts';
import { listScenarioPaths, type ScenarioPaths } from '../store/scenarios/scenario-folders.ts';
import { readEntries } from '../store/scenarios/append-log.ts';
import { foldEntries, type Baseline } from './baseline.ts';
import { readVerdictFile, type VerdictEntry } from './verdict-log.ts';

/** Where a scenario stands, from its two files alone. */
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
}

/** The states of all scenarios of a runs directory. A scenario whose files have not changed is not read again. */
export class ScenarioStates {
  readonly #runsDirectory: string;
  readonly #known = new Map<string, { readonly stamp: string; readonly state: ScenarioState | null }>();
  #states: readonly ScenarioState[] = [];

  constructor(runsDirectory: string) {
    this.#runsDirectory = runsDirectory;
  }

  /** In the order of the folders; the same array as long as nothing has changed. Throws what the file system says. */
  async read(): Promise<readonly ScenarioState[]> {
    const paths = await listScenarioPaths(this.#runsDirectory);
    let changed = paths.length !== this.#known.size;
    for (const each of paths) {
      const stamp = `${fileStamp(each.baseline)} ${fileStamp(each.verdicts)}`;
      if (this.#known.get(each.folder)?.stamp === stamp) continue;
      this.#known.set(each.folder, { stamp, state: await readState(each) });
      changed = true;
    }
    const there = new Set(paths.map(({ folder }) => folder));
    for (const folder of this.#known.keys()) if (!there.has(folder)) this.#known.delete(folder);
    if (changed) this.#states = paths.flatMap(({ folder }) => this.#known.get(folder)?.state ?? []);
    return this.#states;
  }
}

async function readState(paths: ScenarioPaths): Promise<ScenarioState | null> {
  const baseline = foldEntries((await readEntries(paths.baseline)).entries);
  const { entries: verdicts } = await readVerdictFile(paths.verdicts);
  const scenario = verdicts.at(-1)?.scenario ?? baseline.entries.at(-1)?.scenario;
  if (scenario === undefined) return null;
  const newest = verdicts.at(-1) ?? null;
  return {
    scenario,
    newest,
    baseline,
    regression: openRegression(verdicts, baseline),
    undecidedInARow: undecidedInARow(verdicts),
  };
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
