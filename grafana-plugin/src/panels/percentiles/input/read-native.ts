import type { DataFrame, Labels } from '@grafana/data';
import { nativeCells } from '../../../prometheus/native-frame.ts';
import { stepOf } from './bucket-columns.ts';
import { nativeKind } from './counts-kind.ts';
import type { HistogramSeries } from './histogram-series.ts';
import { type InputProblem, singleSample, summedCounters } from './input-problem.ts';
import { nativeRows } from './native-grid.ts';

/** Reads one native histogram over time: a row per populated bucket and time, with neither sum nor total. */
export function readNative(frame: DataFrame, expression: string | undefined): HistogramSeries | InputProblem | null {
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
