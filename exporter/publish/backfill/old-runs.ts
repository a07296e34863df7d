import { finishedRunFamilies, requestHistograms, windowOf, type FinishedRun } from '../finished-run.ts';
import { finishedSeries } from '../remote-write/finished-series.ts';
import type { RunStore } from '../../store/run-store.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import type { BackfillPart } from './backfill-part.ts';
import { phaseSeries, stageSeries } from './phase-series.ts';
import { readFinishedRun } from './read-finished-run.ts';

/** A run that can be written with its times; its series include its histograms, rebuilt from its records. */
export interface OldRun extends BackfillPart {
  readonly finished: FinishedRun;
}

/** A run that is not written, with the reason in one line. */
export type RefusedRun = (runId: string, reason: string) => void;

export interface OldRunsOptions {
  /** Added to every series. */
  readonly extraLabels: Readonly<Record<string, string>>;
  /** Servers' families beyond those that all systems share; `*` stands for any characters. */
  readonly republish?: readonly string[];
  readonly refused: RefusedRun;
}

/** These runs of a store in the order of their start, each read when it is requested. */
export async function* oldRuns(
  store: RunStore,
  runIds: readonly string[],
  { extraLabels, republish = [], refused }: OldRunsOptions,
): AsyncGenerator<OldRun> {
  for (const runId of await byStart(store, runIds, refused)) {
    try {
      const finished = await readFinishedRun(store.pathOf(runId));
      const window = windowOf(finished);
      if (window === null) {
        refused(runId, 'it has no times of its own, or no request of it was sent');
        continue;
      }
      const histograms = await requestHistograms(finished.run, store.readRecords(finished.run));
      const families = [...finishedRunFamilies(finished, { republish }), ...histograms];
      const { run, result } = finished;
      const periods = [...phaseSeries(run, extraLabels), ...stageSeries(run, result, extraLabels)];
      const firsts = periods.flatMap(({ points }) => points.slice(0, 1).map(({ time_ms }) => time_ms));
      const start_ms = Math.min(Date.parse(finished.run.start ?? ''), window.start_ms, ...firsts);
      yield { finished, start_ms, series: [...periods, ...finishedSeries(families, window, extraLabels)] };
    } catch (error) {
      refused(runId, reasonOf(error));
    }
  }
}

async function byStart(store: RunStore, runIds: readonly string[], refused: RefusedRun): Promise<readonly string[]> {
  const starts: { readonly runId: string; readonly start: string }[] = [];
  for (const runId of new Set(runIds)) {
    try {
      const { start } = await store.readRun(runId);
      if (start === null) refused(runId, 'it has no time of its own (start is null), so it has no place in time');
      else starts.push({ runId, start });
    } catch (error) {
      refused(runId, reasonOf(error));
    }
  }
  return starts.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0)).map(({ runId }) => runId);
}
