import { stageLoadText } from '../../../../core/run/load.ts';
import type { XyRegion } from '../../charts/xy-series.ts';
import type { RunResponse } from '../../../../core/api/runs.ts';

/** The phases of a run in seconds since its start; of a load in stages, these instead of the measure phase. */
export function runRegions({ run, result }: Pick<RunResponse, 'run' | 'result'>): XyRegion[] {
  const zero = run.start === null ? NaN : Date.parse(run.start);
  const region = (label: string, start: string | null, end: string | null): XyRegion[] => {
    const [from, to] = [(Date.parse(start ?? '') - zero) / 1000, (Date.parse(end ?? '') - zero) / 1000];
    return Number.isFinite(from) && Number.isFinite(to) ? [{ from, to, label }] : [];
  };
  const stages = (result?.stages ?? []).flatMap(({ stage, load, start, end }) =>
    region([stage, stageLoadText(load)].join(' '), start, end)
  );
  return run.phases.flatMap(({ phase, start, end }) =>
    phase === 'measure' && stages.length > 0 ? stages : region(phase, start, end)
  );
}
