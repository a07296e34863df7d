import type { MeasureResult, ResultFile } from '../run/result.ts';

/** Measures that are one number of a run. */
export const SWEEP_SCALARS = [
  'request_throughput',
  'output_token_throughput',
  'total_token_throughput',
  'goodput',
  'good_request_ratio',
  'error_ratio',
] as const;
export type SweepScalar = (typeof SWEEP_SCALARS)[number];

/** Distributions, in seconds. */
export const SWEEP_LATENCIES = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;
export type SweepLatency = (typeof SWEEP_LATENCIES)[number];

export const SWEEP_PERCENTILES = ['p50', 'p90', 'p95', 'p99'] as const;
export type SweepPercentile = (typeof SWEEP_PERCENTILES)[number];

/**
 * A number of a run that curves are drawn of. `tokens_per_second_per_user_p99` is 1 ÷ the p99 of `inter_token_latency`:
 * the speed that 99 % of the requests had at least.
 */
export type SweepFigure =
  SweepScalar | `${SweepLatency}_${SweepPercentile}` | `tokens_per_second_per_user_${SweepPercentile}`;

export const SWEEP_FIGURES: readonly SweepFigure[] = [
  ...SWEEP_SCALARS,
  ...SWEEP_LATENCIES.flatMap((measure) => SWEEP_PERCENTILES.map((name) => `${measure}_${name}` as const)),
  ...SWEEP_PERCENTILES.map((name) => `tokens_per_second_per_user_${name}` as const),
];

/** A number of one run in base units; `low` and `high` are what buckets leave open, equal to the value when it is exact. */
export interface RunFigure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export type SweepRunFigures = Readonly<Record<SweepFigure, RunFigure | null>>;

/** What the result has of each figure: the client's, over ok requests, from the sending; null where it is missing. */
export function sweepFigures({ measures }: Pick<ResultFile, 'measures'>): SweepRunFigures {
  return figuresOf({
    scalar: (name) => scalar(measures, name),
    percentile: (latency, name) => percentile(measures, latency, name),
  });
}

/** Where the numbers of a run are found; null where one is missing. */
export interface FigureSource {
  readonly scalar: (name: SweepScalar) => RunFigure | null;
  readonly percentile: (latency: SweepLatency, name: SweepPercentile) => RunFigure | null;
}

/** Every figure of a run. */
export function figuresOf(source: FigureSource): SweepRunFigures {
  const entries = SWEEP_SCALARS.map((name): [SweepFigure, RunFigure | null] => [name, source.scalar(name)]);
  for (const latency of SWEEP_LATENCIES) {
    for (const name of SWEEP_PERCENTILES) entries.push([`${latency}_${name}`, source.percentile(latency, name)]);
  }
  for (const name of SWEEP_PERCENTILES) {
    entries.push([`tokens_per_second_per_user_${name}`, inverse(source.percentile('inter_token_latency', name))]);
  }
  return Object.fromEntries(entries) as Record<SweepFigure, RunFigure | null>;
}

function scalar(measures: readonly MeasureResult[], name: SweepScalar): RunFigure | null {
  const found = measures.find(
    ({ measure, origin, kind }) => measure === name && origin === 'client' && kind === 'scalar',
  );
  return found?.kind === 'scalar' && found.value !== null ? exact(found.value) : null;
}

function percentile(
  measures: readonly MeasureResult[],
  latency: SweepLatency,
  name: SweepPercentile,
): RunFigure | null {
  const found = measures.find(
    ({ measure, origin, population, clock }) =>
      measure === latency && origin === 'client' && population === 'ok' && clock === 'sent',
  );
  if (found?.kind !== 'distribution') return null;
  const { value, bounds } = found.percentiles[name];
  if (value === null) return null;
  return bounds === null ? exact(value) : { value, low: Math.min(bounds[0], value), high: Math.max(bounds[1], value) };
}

/** Null for a latency of 0, as of a response in one chunk: it has no speed. */
function inverse(figure: RunFigure | null): RunFigure | null {
  if (figure === null || !(figure.low > 0)) return null;
  return { value: 1 / figure.value, low: 1 / figure.high, high: 1 / figure.low };
}

/** A value without a range. */
export const exact = (value: number): RunFigure => ({ value, low: value, high: value });
