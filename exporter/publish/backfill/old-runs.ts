import type { Labels } from '../../../core/exposition/index.ts';
import { stageLoadText } from '../../../core/run/load.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import type { RunStore } from '../../store/run-store.ts';
import {
  finishedRunFamilies,
  requestHistograms,
  windowOf,
  readFinishedRun,
  type FinishedRun,
} from '../finished-run.ts';
import {
  FINAL_VALUE_HELD_MS,
  INFO_EVERY_MS,
  STALE_AFTER_MS,
  finishedSeries,
  labelPairs,
  type TimedSeries,
} from '../remote-write/pushed-series.ts';
import type { Receiver } from '../remote-write/receiver.ts';
import type { Delayed } from '../remote-write/sender.ts';
import { startSending } from '../remote-write/sending.ts';
import { PHASE_END, PHASE_START, RUN_PHASE, RUN_STAGE, STAGE_END, STAGE_START } from '../run-info.ts';
import type { BackfillPart } from './openmetrics-pages.ts';

const PHASE_FAMILIES = [RUN_PHASE, PHASE_START, PHASE_END];
const STAGE_FAMILIES = [RUN_STAGE, STAGE_START, STAGE_END];

type Edges = Readonly<Record<'start' | 'end', string | null>>;

/**
 * The phases of a finished run at their times, as they are published while a run lasts: dashboards draw regions from
 * them. A phase without both of its times has none.
 */
function phaseSeries(
  { run_id, shard, phases }: Pick<RunFile, 'run_id' | 'shard' | 'phases'>,
  extraLabels: Labels,
): readonly TimedSeries[] {
  return phases.flatMap((period) =>
    periodSeries(PHASE_FAMILIES, period, { ...extraLabels, run_id, shard, phase: period.phase }),
  );
}

/** The stages of the load of a finished run, in the same way. */
function stageSeries(
  { run_id, shard }: Pick<RunFile, 'run_id' | 'shard'>,
  { stages }: Pick<ResultFile, 'stages'>,
  extraLabels: Labels,
): readonly TimedSeries[] {
  return stages.flatMap((period) => {
    const { stage, load } = period;
    const labels = { ...extraLabels, run_id, shard, stage: String(stage), load: stageLoadText(load) };
    return periodSeries(STAGE_FAMILIES, period, labels);
  });
}

/** The families say whether the period lasts, when it began and when it ended. */
function periodSeries(
  families: typeof PHASE_FAMILIES | typeof STAGE_FAMILIES,
  { start, end }: Edges,
  labels: Labels,
): readonly TimedSeries[] {
  if (start === null || end === null) return [];
  const start_ms = Date.parse(start);
  const end_ms = Math.max(Date.parse(end), start_ms + 1);
  const active = [1, start_ms / 1000, 0];
  const over = [0, start_ms / 1000, end_ms / 1000];
  const layout = {
    families,
    series: families.map(({ name }, family) => ({ family, labels: labelPairs(name, labels) })),
    nativeSeries: [],
    created_ms: start_ms,
  };
  const points = [
    ...instants(start_ms, end_ms).map((time_ms) => ({ time_ms, values: active, native: [] })),
    { time_ms: end_ms, values: over, native: [] },
    { time_ms: end_ms + FINAL_VALUE_HELD_MS, values: over, native: [] },
    { time_ms: end_ms + STALE_AFTER_MS, values: null, native: null },
  ];
  return [{ layout, points }];
}

/** From the start to before the end, close enough for Prometheus' look-back. */
function instants(start_ms: number, end_ms: number): number[] {
  return Array.from({ length: Math.ceil((end_ms - start_ms) / INFO_EVERY_MS) }, (_, i) => start_ms + i * INFO_EVERY_MS);
}

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

export interface SendOldRunsOptions {
  readonly runsDirectory: string;
  readonly receiver: Receiver;
  readonly version: string;
  /** How long one run, or one part of the verdicts, may take. */
  readonly secondsPerRun: number;
  readonly problem: (line: string) => void;
  /** Receives why the receiver accepts nothing, and for how many seconds it will be tried again. */
  readonly delayed: Delayed;
}

/** Numbers of samples. */
export interface SentSamples {
  readonly written: number;
  readonly dropped: number;
  /** Of the run or part at which the receiver did not answer; later ones were not tried. */
  readonly waiting: number;
}

export interface SentOldRuns extends SentSamples {
  readonly runs: number;
}

const MAX_QUEUE_BYTES = 1e9;

/** Sends runs with their true times, one after the other, until the receiver does not answer any more. */
export async function sendOldRuns(runs: AsyncIterable<OldRun>, options: SendOldRunsOptions): Promise<SentOldRuns> {
  let total = NOTHING;
  let count = 0;
  for await (const { finished, series } of runs) {
    total = await sent(total, series, { runId: finished.run.run_id, shard: 'backfill' }, options);
    count += 1;
    if (total.waiting > 0) break;
  }
  return { ...total, runs: count };
}

/** Sends verdicts with their true times, likewise. */
export async function sendVerdicts(parts: Iterable<BackfillPart>, options: SendOldRunsOptions): Promise<SentSamples> {
  let total = NOTHING;
  for (const { series, start_ms } of parts) {
    total = await sent(total, series, { runId: 'verdicts', shard: `backfill-${start_ms}` }, options);
    if (total.waiting > 0) break;
  }
  return total;
}

const NOTHING: SentSamples = { written: 0, dropped: 0, waiting: 0 };

async function sent(
  total: SentSamples,
  series: readonly TimedSeries[],
  queue: { readonly runId: string; readonly shard: string },
  { runsDirectory, receiver, version, secondsPerRun, problem, delayed }: SendOldRunsOptions,
): Promise<SentSamples> {
  const own = { ...queue, maxQueueBytes: MAX_QUEUE_BYTES, customBuckets: false, forgetsDropped: true };
  const sending = startSending({ ...own, runsDirectory, receiver, version }, problem);
  series.forEach(({ layout, points }, number) => {
    sending.declare(number, layout);
    for (const point of points) sending.append(number, point);
  });
  const { written, rejected, lost, waiting } = await sending.finish(secondsPerRun, delayed);
  return {
    written: total.written + written,
    dropped: total.dropped + rejected + lost,
    waiting: total.waiting + waiting,
  };
}
