import type { RunFile } from '../../core/run/run.ts';
import { things } from '../../core/text/quantities.ts';
import { readFigures, storedFigures } from '../judge/load-figures.ts';
import { DISCARDED_TAG, orderOfPair, type PairRuns, type PairSide } from '../judge/check-pairs.ts';
import { preflight } from '../judge/preflight.ts';
import { editRun } from '../store/changes/edit-run.ts';
import type { RunStore } from '../store/run-store.ts';
import { ExitCode } from './failure.ts';
import type { RunSeries } from './series/run-series.ts';

/** What another measurement can cure; a different load or configuration would be different again. */
const CURABLE: ReadonlySet<string> = new Set(['client', 'foreign_traffic']);

export interface PairsPlan {
  /** Performs the runs. */
  readonly series: Pick<RunSeries, 'run'>;
  readonly pairs: number;
  /** The most pairs that are measured again. */
  readonly repeats: number;
  /** Options of `llmbench run` for a run of this name; each try of a pair has its own texts. */
  readonly optionsOf: (side: PairSide, pair: number, tryOfPair: number, runId: string) => readonly string[];
}

/**
 * Makes the runs that are missing, pair by pair. A pair whose client was saturated, or whose servers others used, is
 * discarded and measured again. Null when all are there; else the exit code of the run that failed.
 */
export async function measurePairs(store: RunStore, runs: PairRuns, plan: PairsPlan): Promise<number | null> {
  for (let pair = 0; pair < plan.pairs; pair++) {
    for (;;) {
      const failed = await completePair(runs, pair, plan);
      if (failed !== null) return failed;
      const spoiled = await spoiledPair(store, runs, pair);
      if (spoiled === null) break;
      const { text, isRepeated } = decision(runs, plan);
      process.stderr.write(`pair ${pair + 1}: ${spoiled.sentence} ${text}\n`);
      if (!isRepeated) break;
      await discard(store, runs, spoiled.runIds);
    }
  }
  return null;
}

/** Measures the sides that have no usable run. Null, or the exit code of the run that failed. */
async function completePair(
  runs: PairRuns,
  pair: number,
  { pairs, series, optionsOf }: PairsPlan,
): Promise<number | null> {
  for (const side of orderOfPair(pair)) {
    if (runs.usable(pair, side) !== null) continue;
    const name = runs.nextName(pair, side);
    process.stderr.write(`\npair ${pair + 1} of ${pairs}, ${side.toUpperCase()}: run ${name}\n`);
    const { exitCode, result } = await series.run(optionsOf(side, pair, runs.discarded(pair), name));
    if (exitCode === ExitCode.interrupted) return exitCode;
    if (result?.status !== 'completed') return exitCode === ExitCode.done ? ExitCode.failed : exitCode;
    runs.set({ run_id: result.run_id, status: result.status, damage: null, tags: [] });
  }
  return null;
}

interface SpoiledPair {
  readonly sentence: string;
  /** A spoiled run is the last: if this process ends in between, what is left still shows that the pair is spoiled. */
  readonly runIds: readonly string[];
}

async function spoiledPair(store: RunStore, runs: PairRuns, pair: number): Promise<SpoiledPair | null> {
  const ids = (['a', 'b'] as const).flatMap((side) => runs.usable(pair, side)?.run_id ?? []);
  const [a, b] = await readFigures(storedFigures(store), ids);
  if (a === undefined || b === undefined) return null;
  const found = preflight([a], [b]).filter(({ check, outcome }) => CURABLE.has(check) && outcome === 'failed');
  if (found.length === 0) return null;
  const isSpoiled = (id: string): boolean => found.some(({ run_ids }) => run_ids.includes(id));
  return {
    sentence: found.map(({ sentence }) => sentence).join(' '),
    runIds: [...ids.filter((id) => !isSpoiled(id)), ...ids.filter(isSpoiled)],
  };
}

function decision(runs: PairRuns, { pairs, repeats }: PairsPlan): { text: string; isRepeated: boolean } {
  const repeated = Array.from({ length: pairs }, (_, pair) => runs.discarded(pair)).reduce((sum, n) => sum + n, 0);
  if (repeated >= repeats) {
    const why = repeats === 0 ? '--repeat-pairs is 0' : `${things(repeated, 'pairs')} have been (--repeat-pairs)`;
    return { text: `The pair is not measured again: ${why}.`, isRepeated: false };
  }
  const which = `repeat ${repeated + 1} of at most ${repeats}`;
  return {
    text: `The pair is measured again (${which}); its runs are kept with the tag ${DISCARDED_TAG}.`,
    isRepeated: true,
  };
}

async function discard(store: RunStore, runs: PairRuns, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    const { status, tags } = await editRun(store, runId, withDiscardedTag);
    runs.set({ run_id: runId, status, damage: null, tags });
  }
}

const withDiscardedTag = (run: RunFile): RunFile => ({
  ...run,
  tags: [...new Set([...run.tags, DISCARDED_TAG])].sort(),
});
