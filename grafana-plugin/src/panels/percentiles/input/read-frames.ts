import { type DataFrame, FieldType, type Labels } from '@grafana/data';
import {
  collectBuckets,
  stepOf,
  kindOverTime,
  nativeKind,
  decreases,
  histogramRows,
  type BucketGroup,
} from './histogram-rows.ts';
import { type GivenLine, givenLines } from './given-line.ts';
import type { HistogramSeries } from './histogram-series.ts';
import {
  type InputProblem,
  noBucketLabel,
  noOverflowBucket,
  singleSample,
  summedCounters,
  unlikeBounds,
} from './input-problem.ts';
import { isNativeHistogram, nativeCells, nativeRows } from '../../../prometheus/native-grid.ts';
import { isBucketTable, readTable } from './read-table.ts';

/** What the panel can draw of its queries' answers, and what it cannot. */
export interface Reading {
  series: HistogramSeries[];
  /** Percentiles that the queries have computed themselves. */
  lines: GivenLine[];
  /** At most one per query and cause. */
  problems: InputProblem[];
}

/**
 * Finds the histograms in the frames of Grafana's Prometheus data source: raw counters, rates in the time series and in
 * the heatmap format, native histograms and instant tables; and beside them `_sum` series and ready percentiles.
 * `expressions` holds the PromQL text by refId, where known.
 */
export function readFrames(frames: readonly DataFrame[], expressions: ReadonlyMap<string, string>): Reading {
  const found: Array<HistogramSeries | InputProblem | null> = [];
  const overTime: DataFrame[] = [];
  const given: GivenLine[] = [];
  for (const frame of frames) {
    const expression = expressions.get(frame.refId ?? '');
    if (frame.length === 0) {
      continue;
    } else if (isNativeHistogram(frame)) {
      found.push(readNative(frame, expression));
    } else if (isBucketTable(frame)) {
      found.push(...readTable(frame, expression));
    } else if (hasBucketField(frame)) {
      overTime.push(frame);
    } else {
      given.push(...givenLines(frame));
    }
  }
  for (const group of collectBuckets(overTime)) {
    found.push(...readGroup(group, expressions.get(group.refId)));
  }
  const series = found.filter((item) => item !== null && 'bounds' in item);
  const hasNative = frames.some(isNativeHistogram);
  const problems = found.filter((item) => item !== null && 'title' in item);
  const lines = given.filter((line) => !isCompanion(line) && (series.length > 0 || line.quantile !== null));
  const unused = series.length > 0 ? [] : given.filter((line) => !lines.includes(line));
  return {
    series: (hasNative ? withKindChanges(series) : series).map((one) => withSums(one, given)),
    lines,
    problems: unique([...problems, ...unused.map(({ refId }) => noBucketLabel(refId))]),
  };
}

function hasBucketField(frame: DataFrame): boolean {
  return frame.fields.some((field) => field.type === FieldType.number && field.labels?.['le'] !== undefined);
}

function readGroup(group: BucketGroup, expression: string | undefined): Array<HistogramSeries | InputProblem> {
  const { refId, metricName, labels, stepMs, field } = group;
  const metric = metricName?.replace(/_bucket$/, '') ?? null;
  return histogramRows(group).map(({ bounds, times, counts, whole }, grid) => {
    if (bounds.at(-1) !== Infinity) {
      return noOverflowBucket(refId);
    }
    const kind = kindOverTime(whole, metricName, expression);
    if (kind === 'summed') {
      return summedCounters(refId);
    }
    if (kind === 'counters' && times.length < 2) {
      return singleSample(refId);
    }
    if (kind === 'rates' && decreases(counts, bounds.length)) {
      return unlikeBounds(refId);
    }
    const gridChangedMs = grid === 0 ? null : (times[0] ?? null);
    const data = { kind, trueCounts: kind === 'counters', exponential: false, bounds, stepMs, times, counts };
    return { refId, metric, labels, ...data, sums: null, gridChangedMs, field };
  });
}

/** Marks where Prometheus began to store a histogram in the other kind, classic or native, as a change of its buckets. */
function withKindChanges(series: readonly HistogramSeries[]): HistogramSeries[] {
  const starts = new Map<string, number>();
  for (const one of series) {
    starts.set(keyOf(one), Math.min(starts.get(keyOf(one)) ?? Infinity, startOf(one)));
  }
  return series.map((one) =>
    one.metric !== null && startOf(one) > (starts.get(keyOf(one)) ?? Infinity)
      ? { ...one, gridChangedMs: startOf(one) }
      : one
  );
}

function startOf({ times }: HistogramSeries): number {
  return times[0] ?? 0;
}

function keyOf({ refId, metric, labels }: HistogramSeries): string {
  return JSON.stringify([refId, metric, Object.entries(labels).sort()]);
}

function unique(problems: readonly InputProblem[]): InputProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.refId} ${problem.title}`, problem])).values()];
}

const COMPANION = /_(sum|count)$/;

/** True for the `_sum` and `_count` series of a histogram. */
function isCompanion({ metric }: GivenLine): boolean {
  return COMPANION.test(metric ?? '');
}

/** Gives raw counters the `_sum` series of the same metric and labels, whichever query it comes from. */
function withSums(series: HistogramSeries, lines: readonly GivenLine[]): HistogramSeries {
  const sum =
    series.kind === 'counters' && series.metric !== null
      ? lines.find(({ metric, labels }) => metric === `${series.metric}_sum` && sameLabels(labels, series.labels))
      : undefined;
  if (!sum) {
    return series;
  }
  const valueAt = new Map(sum.times.map((time, row) => [time, sum.values[row] ?? NaN]));
  return { ...series, sums: Float64Array.from(series.times, (time) => valueAt.get(time) ?? NaN) };
}

function sameLabels(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Reads one native histogram over time: a row per populated bucket and time, with neither sum nor total. */
function readNative(frame: DataFrame, expression: string | undefined): HistogramSeries | InputProblem | null {
  const refId = frame.refId ?? '';
  const cells = nativeCells(frame);
  if (cells === null) {
    return null;
  }
  const { time, low, high, count } = cells;
  const rows = nativeRows({ times: time.values, lows: low.values, highs: high.values, counts: count.values });
  const kind = nativeKind(rows.counts, expression);
  if (kind === 'summed') {
    return summedCounters(refId);
  }
  if (kind === 'counters' && rows.times.length < 2) {
    return singleSample(refId);
  }
  const { __name__: name, ...labels } = labelsOf(frame);
  return {
    refId,
    metric: name ?? null,
    labels,
    kind,
    trueCounts: kind === 'counters',
    exponential: rows.schema !== null,
    bounds: rows.bounds,
    stepMs: stepOf(time),
    times: rows.times,
    counts: rows.counts,
    sums: null,
    gridChangedMs: null,
    field: low,
  };
}

function labelsOf(frame: DataFrame): Labels {
  return frame.fields.find(({ labels }) => labels !== undefined && Object.keys(labels).length > 0)?.labels ?? {};
}
