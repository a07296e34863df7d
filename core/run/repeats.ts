import type { MeasureResult, ResultFile } from './result.ts';
import { PERCENTILE_NAMES } from '../stats/percentiles.ts';
import { studentT } from '../stats/distributions.ts';

const CONFIDENCE = 0.95;

/** One statistic of a measure over repeats of a run. The numbers are in the unit of the measure. */
export interface RepeatedStatistic extends Pick<
  MeasureResult,
  'measure' | 'unit' | 'definition' | 'origin' | 'population' | 'clock'
> {
  /** `p99`, `mean`, …; `value` of a measure that is one number. */
  readonly stat: string;
  /** Runs that have a value of it. */
  readonly n: number;
  readonly mean: number;
  /** Standard deviation between the runs, divided by n − 1; null for one run. */
  readonly std: number | null;
  /** std ÷ |mean|; null for one run, or when the mean is 0. */
  readonly cv: number | null;
  readonly min: number;
  readonly max: number;
  /** 95 % confidence interval of the mean over runs, by Student's t; null for one run. */
  readonly ci95: readonly [low: number, high: number] | null;
}

/**
 * Every statistic over the repeats of one run, as AIPerf's aggregate has it: the spread between runs, which no interval
 * within a run can show. Statistics without a value in any run are left out.
 */
export function overRepeats(results: readonly ResultFile[]): readonly RepeatedStatistic[] {
  const found = new Map<string, { of: Statistic; values: number[] }>();
  for (const of of results.flatMap(({ measures }) => measures.flatMap(statistics))) {
    const { measure, definition, origin, population, clock, stat } = of;
    const key = JSON.stringify([measure, definition, origin, population, clock, stat]);
    const entry = found.get(key) ?? { of, values: [] };
    found.set(key, entry);
    entry.values.push(of.value);
  }
  return [...found.values()].map(({ of: { value: _, ...identity }, values }) => ({ ...identity, ...spread(values) }));
}

type Statistic = Omit<RepeatedStatistic, keyof ReturnType<typeof spread>> & { readonly value: number };

function statistics(result: MeasureResult): Statistic[] {
  const { measure, unit, definition, origin, population, clock } = result;
  const named: readonly (readonly [string, number | null])[] =
    result.kind === 'scalar'
      ? [['value', result.value]]
      : [
          ['mean', result.mean],
          ['std', result.std],
          ['min', result.min],
          ['max', result.max],
          ...PERCENTILE_NAMES.map((name) => [name, result.percentiles[name].value] as const),
        ];
  return named.flatMap(([stat, value]) =>
    value === null ? [] : [{ measure, unit, definition, origin, population, clock, stat, value }],
  );
}

function spread(values: readonly number[]) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = n > 1 ? Math.sqrt(squares / (n - 1)) : null;
  const half = std === null ? null : (studentT(CONFIDENCE, n - 1) * std) / Math.sqrt(n);
  return {
    n,
    mean,
    std,
    cv: std === null || mean === 0 ? null : std / Math.abs(mean),
    min: Math.min(...values),
    max: Math.max(...values),
    ci95: half === null ? null : ([mean - half, mean + half] as const),
  };
}
