import { changeText } from '../../../../core/text/quantities.ts';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';

/** What a run contributes to the history of one measure. The place is that of the run among all shown, the oldest is 0. */
export interface TrendPoint {
  place: number;
  run: ScenarioResponse['runs'][number];
  /** Both bounds, equal where the value is exact. */
  low: number;
  high: number;
  /** The 95 % interval within the run; null where it is not available. */
  interval: readonly [number, number] | null;
  /** Number of values; null where unknown. */
  n: number | null;
}

/** The smallest and the largest value of some runs. */
export interface TrendBand {
  low: number;
  high: number;
  runs: number;
}

/** A vertical line: from this run on, something is different. */
export interface TrendMark {
  place: number;
  kind: 'worse' | 'better' | 'version';
  text: string;
}

export interface Trend {
  points: readonly TrendPoint[];
  /** The values of the runs that a check uses as the baseline; null without one. */
  baseline: TrendBand | null;
  /** The values of the pinned runs; null without one. */
  anchor: TrendBand | null;
  /** The levels that the change points separate. */
  changes: readonly TrendMark[];
}

type Scenario = Pick<ScenarioResponse, 'runs' | 'measures' | 'baseline' | 'change_points'>;

/** The history of the measure at this place of `measures`. */
export function trendOf({ runs, measures, baseline, change_points }: Scenario, measure: number): Trend {
  const oldestFirst = [...runs].reverse();
  const points = oldestFirst.flatMap((run, place): TrendPoint[] => {
    const found = run.values[measure] ?? null;
    const [low, high] = Array.isArray(found?.value) ? found.value : [found?.value, found?.value];
    if (typeof low !== 'number' || typeof high !== 'number') {
      return [];
    }
    return [{ place, run, low, high, interval: finite(found?.ci95 ?? null), n: found?.n ?? null }];
  });
  const used = new Set(baseline.used);
  const key = measures[measure];
  const changes = change_points
    .filter((change) => key !== undefined && IDENTITY.every((member) => change[member] === key[member]))
    .flatMap(({ run_id, ratio, worse }): TrendMark[] => {
      const place = oldestFirst.findIndex((run) => run.run_id === run_id);
      return place < 0
        ? []
        : [{ place, kind: worse ? 'worse' : 'better', text: ratio === null ? '' : changeText(ratio) }];
    });
  return {
    points,
    baseline: bandOf(points.filter(({ run }) => used.has(run.run_id))),
    anchor: bandOf(points.filter(({ run }) => run.pinned)),
    changes,
  };
}

/** These members together name a measure. */
const IDENTITY = ['measure', 'stat', 'unit', 'definition', 'origin', 'population', 'clock'] as const;

/** Where the engine, its version, the model or the configuration is not that of the run before. */
export function versionMarks(runs: ScenarioResponse['runs'], words: { configuration: string }): TrendMark[] {
  const oldestFirst = [...runs].reverse();
  return oldestFirst.flatMap((run, place): TrendMark[] => {
    const before = oldestFirst[place - 1];
    if (before === undefined) {
      return [];
    }
    const text = [
      ...(engineOf(run) !== engineOf(before) ? [engineOf(run)] : []),
      ...(run.model !== before.model ? [run.model] : []),
      ...(run.fingerprint !== before.fingerprint ? [words.configuration] : []),
    ].filter((part) => part !== null && part !== '');
    return text.length === 0 ? [] : [{ place, kind: 'version', text: text.join(', ') }];
  });
}

function engineOf({ system, system_version }: ScenarioResponse['runs'][number]): string {
  return [system, system_version].filter(Boolean).join(' ');
}

function bandOf(points: readonly TrendPoint[]): TrendBand | null {
  if (points.length === 0) {
    return null;
  }
  const low = Math.min(...points.map((point) => point.low));
  const high = Math.max(...points.map((point) => point.high));
  return { low, high, runs: points.length };
}

function finite(interval: ReadonlyArray<number | null> | null): readonly [number, number] | null {
  const [low, high] = interval ?? [];
  return typeof low === 'number' && typeof high === 'number' ? [low, high] : null;
}

/** The place nearest to this one that has a point; null without points. */
export function nearestPoint(points: readonly TrendPoint[], place: number): TrendPoint | null {
  let best: TrendPoint | null = null;
  for (const point of points) {
    if (best === null || Math.abs(point.place - place) < Math.abs(best.place - place)) {
      best = point;
    }
  }
  return best;
}
