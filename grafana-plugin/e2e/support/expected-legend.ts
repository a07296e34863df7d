import { quantileBounds, bucketOfEstimate } from '../../../core/histogram/bounds.ts';
import { classicHistogram, histogramDelta, type ClassicHistogram } from '../../../core/histogram/classic-histogram.ts';
import { histogramQuantile } from '../../../core/histogram/quantile.ts';

export interface ExpectedRow {
  estimate: number;
  low: number;
  high: number;
}

interface RangeRequest {
  prometheusUrl: string;
  query: string;
  fromMs: number;
  toMs: number;
}

type Matrix = Array<{ metric: Record<string, string>; values: Array<[number, string]> }>;

/** Queries Prometheus for the series of one histogram, and returns its samples in order of time. */
export async function histograms({ prometheusUrl, query, fromMs, toMs }: RangeRequest): Promise<ClassicHistogram[]> {
  const parameters = new URLSearchParams({ query, start: `${fromMs / 1000}`, end: `${toMs / 1000}`, step: '1' });
  const response = await (await fetch(`${prometheusUrl}/api/v1/query_range?${parameters}`)).json();
  const byTime = new Map<number, Array<[string, number]>>();
  for (const { metric, values } of response.data.result as Matrix) {
    for (const [time, value] of values) {
      byTime.set(time, [...(byTime.get(time) ?? []), [metric['le'] ?? '', Number(value)]]);
    }
  }
  const times = [...byTime.keys()].sort((a, b) => a - b);
  return times.map((time) => classicHistogram(byTime.get(time) ?? []));
}

/** Raw counters without a reset: the difference of the last and the first sample. */
export function fromCounters(samples: ClassicHistogram[], quantiles: number[]): { rows: ExpectedRow[]; n: number } {
  const [first, last] = [samples[0], samples.at(-1)];
  const delta = first && last && histogramDelta(first, last);
  if (!delta || delta.reset) {
    throw new Error('no samples, or a reset');
  }
  const rows = quantiles.map((q) => row(histogramQuantile(q, delta.histogram), quantileBounds(q, delta.histogram)));
  return { rows, n: delta.histogram.counts.at(-1) ?? NaN };
}

/** Rates: all of them added up. */
export function fromRates(samples: ClassicHistogram[], quantiles: number[]): ExpectedRow[] {
  const bounds = samples[0]?.bounds ?? [];
  const counts = bounds.map((_, i) => samples.reduce((total, sample) => total + (sample.counts[i] ?? 0), 0));
  const sum = { bounds, counts, sum: null };
  return quantiles.map((q) => row(histogramQuantile(q, sum), bucketOfEstimate(q, sum)));
}

function row(estimate: number, interval: { low: number; high: number } | null): ExpectedRow {
  return { estimate, low: interval?.low ?? NaN, high: interval?.high ?? NaN };
}
