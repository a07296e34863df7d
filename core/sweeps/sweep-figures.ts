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
type SweepScalar = (typeof SWEEP_SCALARS)[number];

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
interface FigureSource {
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

/** A server is saturated when twice the load gives less than this much more throughput. */
const MIN_GAIN = 0.1;

/** The load, twice the load and so on, up to the highest one. */
export function doubledLoads(first: number, highest: number): readonly number[] {
  const loads: number[] = [];
  for (let load = first; load <= highest; load *= 2) loads.push(load);
  return loads;
}

/** Why a sweep of doubled loads has ended. */
export type SweepEnd =
  | {
      readonly reason: 'saturated';
      /** Of the last load over the one before: 0.03 is 3 % more. */
      readonly gain: number;
      readonly measure: 'output_token_throughput' | 'request_throughput';
    }
  /** The last load measured the client. */
  | { readonly reason: 'client saturated' }
  /** No request succeeded, or too few for a rate. */
  | { readonly reason: 'no throughput' };

/** Whether a further doubling would show nothing more; null: it would, or there is only one load. */
export function endOfDoubling(results: readonly Pick<ResultFile, 'measures' | 'client'>[]): SweepEnd | null {
  const [before, last] = [results.at(-2), results.at(-1)];
  if (last === undefined) return null;
  if (last.client.verdict === 'saturated') return { reason: 'client saturated' };
  const now = throughputOf(last);
  if (now === null) return { reason: 'no throughput' };
  const then = before === undefined ? null : throughputOf(before);
  if (then === null || !(then.value > 0)) return null;
  const gain = now.value / then.value - 1;
  return gain < MIN_GAIN ? { reason: 'saturated', gain, measure: now.measure } : null;
}

/** Of tokens; of requests where the responses have none, as embeddings. */
function throughputOf(result: Pick<ResultFile, 'measures'>) {
  const figures = sweepFigures(result);
  for (const measure of ['output_token_throughput', 'request_throughput'] as const) {
    const figure = figures[measure];
    if (figure !== null) return { measure, value: figure.value };
  }
  return null;
}
