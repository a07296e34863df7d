import { type DataFrame, FieldType } from '@grafana/data';
import { type BucketGroup, collectBuckets } from './bucket-columns.ts';
import { kindOverTime } from './counts-kind.ts';
import { histogramRows } from './histogram-rows.ts';
import type { HistogramSeries } from './histogram-series.ts';
import {
  type InputProblem,
  nativeHistogram,
  noBucketLabel,
  noOverflowBucket,
  singleSample,
  summedCounters,
} from './input-problem.ts';
import { isBucketTable, readTable } from './read-table.ts';

/** What the panel can draw of its queries' answers, and what it cannot. */
export interface Reading {
  series: HistogramSeries[];
  /** At most one per query and cause. */
  problems: InputProblem[];
}

/**
 * Finds the histograms in the frames of Grafana's Prometheus data source: raw counters, rates in the time series and in
 * the heatmap format, and instant tables. `expressions` holds the PromQL text by refId, where known.
 */
export function readFrames(frames: readonly DataFrame[], expressions: ReadonlyMap<string, string>): Reading {
  const found: Array<HistogramSeries | InputProblem> = [];
  const overTime: DataFrame[] = [];
  for (const frame of frames) {
    const refId = frame.refId ?? '';
    if (frame.length === 0) {
      continue;
    } else if (frame.meta?.type === 'heatmap-cells') {
      found.push(nativeHistogram(refId));
    } else if (isBucketTable(frame)) {
      found.push(...readTable(frame, expressions.get(refId)));
    } else if (hasBucketField(frame)) {
      overTime.push(frame);
    } else {
      found.push(noBucketLabel(refId));
    }
  }
  for (const group of collectBuckets(overTime)) {
    found.push(...readGroup(group, expressions.get(group.refId)));
  }
  return {
    series: found.filter((item) => 'samples' in item),
    problems: unique(found.filter((item) => 'title' in item)),
  };
}

function hasBucketField(frame: DataFrame): boolean {
  return frame.fields.some((field) => field.type === FieldType.number && field.labels?.['le'] !== undefined);
}

function readGroup(group: BucketGroup, expression: string | undefined): Array<HistogramSeries | InputProblem> {
  const { refId, metricName, labels, stepMs, config } = group;
  const metric = metricName?.replace(/_bucket$/, '') ?? null;
  return histogramRows(group).map(({ bounds, samples }) => {
    if (bounds.at(-1) !== Infinity) {
      return noOverflowBucket(refId);
    }
    const kind = kindOverTime(samples, metricName, expression);
    if (kind === 'summed') {
      return summedCounters(refId);
    }
    if (kind === 'counters' && samples.length < 2) {
      return singleSample(refId);
    }
    return { refId, metric, labels, kind, trueCounts: kind === 'counters', bounds, stepMs, samples, config };
  });
}

function unique(problems: readonly InputProblem[]): InputProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.refId} ${problem.title}`, problem])).values()];
}
