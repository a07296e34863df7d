import type { Page } from '@playwright/test';
import type { PrometheusSeries } from '../../host/page/prometheus-api.ts';

/** Answers of a Prometheus that never was: every state of the panel, the same in every picture. */

export const FROM_SECONDS = 1_795_285_800;
const FINE = [0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5];
const NAME = 'ttft_seconds';

export interface Histogram {
  labels?: Record<string, string>;
  bounds?: readonly number[];
  samples: number;
  /** Seconds between samples. */
  step?: number;
  /** Observations in a step, and their median in seconds. */
  perStep: (row: number) => number;
  median: (row: number) => number;
  /** Width of the distribution: 0 = all alike. */
  spread?: number;
  /** Counted before the first sample. */
  before?: number;
  /** First sample, in steps after the start. */
  startRow?: number;
  /** Rows of which the samples are missing. */
  missing?: (row: number) => boolean;
}

/** Series of a histogram with log-logistic values: its distribution function is 1 / (1 + (median / x)^(1 / spread)). */
export function counters({ labels = {}, bounds = FINE, samples, step = 1, ...shape }: Histogram): PrometheusSeries[] {
  const { perStep, median, spread = 0.35, before = 0, startRow = 0, missing = () => false } = shape;
  const share = (bound: number, row: number) => 1 / (1 + (median(row) / bound) ** (1 / spread));
  return [...bounds, Infinity].map((bound) => {
    let total = 0;
    const values: PrometheusSeries['values'] = [];
    for (let row = 0; row < samples; row++) {
      const n = row === 0 ? before : perStep(row);
      total += bound === Infinity ? n : n * share(bound, row);
      if (!missing(row)) {
        values.push([FROM_SECONDS + (startRow + row) * step, String(Math.round(total))]);
      }
    }
    return { metric: { __name__: `${NAME}_bucket`, ...labels, le: bound === Infinity ? '+Inf' : `${bound}` }, values };
  });
}

/** A series with one value at all times. */
export function constant(metric: Record<string, string>, value: number, samples: number): PrometheusSeries {
  const values = Array.from({ length: samples }, (_, row): [number, string] => [FROM_SECONDS + row, String(value)]);
  return { metric, values };
}

/** The responses to queries by their text; a text instead of series is Prometheus' reason for a failure. */
export type Responses = Record<string, readonly PrometheusSeries[] | string>;

/** Answers the panel's queries instead of Prometheus, once `when` has come; run regions are left out. */
export async function response(
  page: Page,
  responses: Responses,
  when: Promise<void> = Promise.resolve()
): Promise<void> {
  await page.route('**/prometheus/api/v1/query_range**', async (route) => {
    await when;
    const query = new URL(route.request().url()).searchParams.get('query') ?? '';
    const result = responses[query] ?? [];
    if (typeof result === 'string') {
      await route.fulfill({ status: 422, json: { status: 'error', errorType: 'execution', error: result } });
      return;
    }
    await route.fulfill({ json: { status: 'success', data: { resultType: 'matrix', result } } });
  });
}
