import { stageLoadText } from '../../../core/run/load.ts';
import type { Labels } from '../../../core/exposition/index.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import {
  FINAL_VALUE_HELD_MS,
  INFO_EVERY_MS,
  STALE_AFTER_MS,
  type TimedSeries,
} from '../remote-write/finished-series.ts';
import { labelPairs } from '../remote-write/pushed-series.ts';
import { PHASE_END, PHASE_START, RUN_PHASE, RUN_STAGE, STAGE_END, STAGE_START } from '../run-phase.ts';

const PHASE_FAMILIES = [RUN_PHASE, PHASE_START, PHASE_END];
const STAGE_FAMILIES = [RUN_STAGE, STAGE_START, STAGE_END];

type Edges = Readonly<Record<'start' | 'end', string | null>>;

/**
 * The phases of a finished run at their times, as they are published while a run lasts: dashboards draw regions from
 * them. A phase without both of its times has none.
 */
export function phaseSeries(
  { run_id, shard, phases }: Pick<RunFile, 'run_id' | 'shard' | 'phases'>,
  extraLabels: Labels,
): readonly TimedSeries[] {
  return phases.flatMap((period) =>
    periodSeries(PHASE_FAMILIES, period, { ...extraLabels, run_id, shard, phase: period.phase }),
  );
}

/** The stages of the load of a finished run, in the same way. */
export function stageSeries(
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
