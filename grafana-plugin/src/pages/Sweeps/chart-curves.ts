import type { GrafanaTheme2 } from '@grafana/data';
import {
  paretoFrontier,
  latencyLimits,
  efficiencyCurve,
  latencyCurve,
  loadCurve,
  type SweepPoint,
} from '../../../../core/sweeps/sweep-curves.ts';
import { sweepNames } from '../../../../core/sweeps/sweep-names.ts';
import type { ListedSweep, StoredSweep } from '../../../../core/api/sweeps.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import type { SweepSettings } from './settings.ts';

/** A sweep with its name and color beside the others. */
export interface ShownSweep {
  sweep: StoredSweep;
  name: string;
  color: string;
}

/** A sweep as points by ascending load. */
export interface ChartCurve {
  shown: ShownSweep;
  points: readonly SweepPoint[];
  /** A line for comparison, without points. */
  isReference?: boolean;
}

/** Names say what differs between the sweeps. */
export function shownSweeps(sweeps: readonly StoredSweep[], theme: GrafanaTheme2): ShownSweep[] {
  const names = sweepNames(sweeps);
  return sweeps.map((sweep, i) => ({ sweep, name: names[i] ?? sweep.sweep_id, color: paletteColor(theme, i) }));
}

export function latencyCurves(shown: readonly ShownSweep[], settings: SweepSettings): ChartCurve[] {
  const { throughput, latency, percentile } = settings;
  return withPoints(
    shown.map((each) => ({ shown: each, points: latencyCurve(each.sweep, throughput, latency, percentile) }))
  );
}

/** The objectives of the drawn percentile, and the limits of good requests. */
export const limitsOf = (shown: readonly ShownSweep[], { latency, percentile }: SweepSettings) =>
  latencyLimits(
    shown.map(({ sweep }) => sweep),
    latency,
    [percentile]
  );

/** GPUs that throughput is divided by; null: unknown. */
export const gpusOfSweep = ({ gpus }: Pick<StoredSweep, 'gpus'>, settings: Pick<SweepSettings, 'gpus'>) =>
  gpus ?? settings.gpus;

export interface Efficiency {
  curves: ChartCurve[];
  /** Points that no other one beats, by ascending speed per user. */
  frontier: readonly SweepPoint[];
  /** Sweeps whose number of GPUs is unknown. */
  withoutGpus: ShownSweep[];
}

export function efficiency(shown: readonly ShownSweep[], settings: SweepSettings): Efficiency {
  const throughput =
    settings.throughput === 'total_token_throughput' ? 'total_token_throughput' : 'output_token_throughput';
  const curves = withPoints(
    shown.flatMap((each): ChartCurve[] => {
      const gpus = gpusOfSweep(each.sweep, settings);
      return gpus === null
        ? []
        : [{ shown: each, points: efficiencyCurve(each.sweep, throughput, settings.percentile, gpus) }];
    })
  );
  return {
    curves,
    frontier: paretoFrontier(curves.flatMap(({ points }) => points)),
    withoutGpus: shown.filter(({ sweep }) => gpusOfSweep(sweep, settings) === null),
  };
}

/** Goodput over the load, with all ok requests for comparison. */
export function goodputCurves(shown: readonly ShownSweep[]): ChartCurve[] {
  const good = withPoints(shown.map((each) => ({ shown: each, points: loadCurve(each.sweep, 'goodput') })));
  const all = good.map(({ shown: each }) => ({
    shown: each,
    points: loadCurve(each.sweep, 'request_throughput'),
    isReference: true,
  }));
  return [...good, ...withPoints(all)];
}

export function throughputCurves(shown: readonly ShownSweep[], { throughput }: SweepSettings): ChartCurve[] {
  return withPoints(shown.map((each) => ({ shown: each, points: loadCurve(each.sweep, throughput) })));
}

const withPoints = (curves: readonly ChartCurve[]): ChartCurve[] => curves.filter(({ points }) => points.length > 0);

/** Scenarios whose newest sweep is shown beside that of the newest one. */
const MAX_OTHERS = 3;

/**
 * The ids of the sweeps to begin with, of sweeps with the newest first: all of the newest scenario; where that is a single
 * one, also the newest of the scenarios before it that vary the load in the same way.
 */
export function preselected(sweeps: ReadonlyArray<Pick<ListedSweep, 'sweep_id' | 'scenario' | 'load_mode'>>): string[] {
  const [newest, ...others] = sweeps;
  if (newest === undefined) {
    return [];
  }
  const own = sweeps.filter(({ scenario }) => scenario === newest.scenario);
  const seen = new Set<string>([newest.scenario]);
  const beside = others.filter(({ scenario, load_mode }) => {
    const isNew = load_mode === newest.load_mode && !seen.has(scenario);
    seen.add(scenario);
    return isNew;
  });
  return [...own, ...(own.length === 1 ? beside.slice(0, MAX_OTHERS) : [])].map(({ sweep_id }) => sweep_id);
}
