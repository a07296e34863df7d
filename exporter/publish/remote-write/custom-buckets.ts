import { CUSTOM_BUCKETS_SCHEMA } from '../../../core/histogram/native/native-histogram.ts';
import type { NativeHistogram } from '../../../core/histogram/native/native-histogram.ts';
import { labelPairs } from './pushed-series.ts';
import type { PushedSeries, SeriesLayout, SeriesPoint } from './pushed-series.ts';

/** Indexes in a layout of the series of one classic histogram; `bounds` ascend, without `+Inf`. */
interface ClassicSeries {
  readonly series: PushedSeries;
  readonly bounds: readonly number[];
  /** One per bound, then `+Inf`. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

/**
 * Native histograms with custom buckets (schema −53) from the classic ones of a layout: the same counts in the same
 * buckets, as one series each. The classic series are kept.
 */
export class CustomBuckets {
  readonly layout: SeriesLayout;
  readonly #histograms: readonly ClassicSeries[];

  constructor(layout: SeriesLayout) {
    this.#histograms = classicHistograms(layout);
    this.layout = { ...layout, nativeSeries: this.#histograms.map(({ series }) => series) };
  }

  withNative(point: SeriesPoint): SeriesPoint {
    const { values } = point;
    if (values === null) return point;
    return { ...point, native: this.#histograms.map((histogram) => nativeOf(histogram, values)) };
  }
}

function nativeOf({ bounds, buckets, sum }: ClassicSeries, values: readonly number[]): NativeHistogram {
  const cumulative = buckets.map((at) => values[at] ?? 0);
  const positive = cumulative.flatMap((upTo, index) => {
    const count = upTo - (cumulative[index - 1] ?? 0);
    return count > 0 ? [{ index, low: bounds[index - 1] ?? -Infinity, high: bounds[index] ?? Infinity, count }] : [];
  });
  return {
    schema: CUSTOM_BUCKETS_SCHEMA,
    zeroThreshold: 0,
    zeroCount: 0,
    count: cumulative.at(-1) ?? 0,
    sum: values[sum] ?? 0,
    positive,
    negative: [],
    customBounds: bounds,
  };
}

function classicHistograms({ families, series }: SeriesLayout): ClassicSeries[] {
  const found = new Map<string, { family: number; buckets: { bound: number; at: number }[]; sum: number }>();
  series.forEach(({ family, labels }, at) => {
    const { name = '', type } = families[family] ?? {};
    if (type !== 'histogram') return;
    const own = labels.filter(([label]) => label !== '__name__' && label !== 'le');
    const key = JSON.stringify([family, own]);
    const histogram = found.get(key) ?? { family, buckets: [], sum: -1 };
    found.set(key, histogram);
    const suffix = (labels.find(([label]) => label === '__name__')?.[1] ?? '').slice(name.length);
    if (suffix === '_sum') histogram.sum = at;
    if (suffix === '_bucket') {
      const le = labels.find(([label]) => label === 'le')?.[1] ?? '';
      histogram.buckets.push({ bound: le === '+Inf' ? Infinity : Number(le), at });
    }
  });
  return [...found].map(([key, { family, buckets, sum }]) => {
    const ordered = buckets.sort((a, b) => a.bound - b.bound);
    const [, own] = JSON.parse(key) as [number, [string, string][]];
    return {
      series: { family, labels: labelPairs(families[family]?.name ?? '', Object.fromEntries(own)) },
      bounds: ordered.map(({ bound }) => bound).filter(Number.isFinite),
      buckets: ordered.map(({ at }) => at),
      sum,
    };
  });
}
