import type { ResultFile } from '../run/result.ts';
import { sweepFigures } from './sweep-figures.ts';

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
