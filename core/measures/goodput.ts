import type { RequestRecord } from '../run/record.ts';
import type { GoodputLimit } from '../run/objectives.ts';
import type { ScalarResult } from '../run/result.ts';
import { DISTRIBUTION_MEASURES } from './measures.ts';
import type { PerRequestMeasure, ScalarMeasure } from './measures.ts';
import { figuresOf } from './request-figures.ts';
import { quotient, scalarResult } from './scalar-measures.ts';

/** What becomes of a run's good requests; there only when limits are set. The limits are part of the definition. */
export const GOODPUT_MEASURES = {
  good_request_count: {
    measure: 'good_request_count',
    unit: 'requests',
    definition: 'good_requests',
    formula: 'ok requests that meet every limit',
    direction: 'higher',
  },
  good_request_ratio: {
    measure: 'good_request_ratio',
    unit: 'ratio',
    definition: 'good_over_ok_error_timeout',
    formula: 'good requests ÷ (ok + error + timeout)',
    direction: 'higher',
  },
  goodput: {
    measure: 'goodput',
    unit: 'requests_per_second',
    definition: 'good_requests_over_window',
    formula: 'good requests ÷ (last response − first request)',
    direction: 'higher',
  },
} as const satisfies Record<string, ScalarMeasure>;

/** The measures that a limit can be set on: one value per request, from the sending, better when lower or higher. */
export const GOODPUT_LIMITED: readonly PerRequestMeasure[] = DISTRIBUTION_MEASURES.filter(
  (measure): measure is PerRequestMeasure =>
    measure.value !== null && measure.clock === 'sent' && measure.direction !== 'none',
);

/**
 * Whether an ok request keeps every limit, as AIPerf defines it: at most the limit, or at least when higher is better. A
 * request that lacks a limited measure is not good. Throws a `RangeError` for a measure that cannot be limited.
 */
export function goodRequest(limits: readonly GoodputLimit[]): (record: RequestRecord) => boolean {
  const tests = limits.map(({ measure: name, limit }) => {
    const measure = GOODPUT_LIMITED.find((each) => each.measure === name);
    if (measure === undefined) throw new RangeError(`a limit is not supported for ${name}`);
    return { value: measure.value, limit, atMost: measure.direction === 'lower' };
  });
  return (record) => {
    const figures = figuresOf(record);
    return tests.every(({ value, limit, atMost }) => {
      const found = value(figures);
      return found !== null && (atMost ? found <= limit : found >= limit);
    });
  };
}

export interface GoodputTotals {
  readonly good: number;
  /** ok, error and timeout. */
  readonly requests: number;
  /** Null without requests. */
  readonly windowSeconds: number | null;
}

export function goodputResults(limits: readonly GoodputLimit[], totals: GoodputTotals): ScalarResult[] {
  const { good, requests, windowSeconds } = totals;
  const values: Record<keyof typeof GOODPUT_MEASURES, number | null> = {
    good_request_count: good,
    good_request_ratio: quotient(good, requests),
    goodput: quotient(good, windowSeconds),
  };
  return (Object.keys(GOODPUT_MEASURES) as (keyof typeof GOODPUT_MEASURES)[]).map((name) => {
    const definition = `${GOODPUT_MEASURES[name].definition}[${limits.map(limitText).sort().join(',')}]`;
    const population = name === 'good_request_ratio' ? 'all' : 'ok';
    return scalarResult(GOODPUT_MEASURES[name], values[name], { definition, population });
  });
}

function limitText({ measure, limit, unit }: GoodputLimit): string {
  const lower = GOODPUT_LIMITED.find((each) => each.measure === measure)?.direction === 'lower';
  return `${measure}${lower ? '<=' : '>='}${limit} ${unit}`;
}
