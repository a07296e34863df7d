import type { FieldConfig } from '@grafana/data';
import type { GivenShape, PercentileLine } from './lines.ts';

/** The values that the axis of values shows. */
export interface ValueRange {
  low: number;
  high: number;
  /** Largest finite bucket bounds that a percentile has exceeded; there is room above them. */
  overflowEdges: number[];
}

interface Request {
  lines: readonly PercentileLine[];
  given: readonly GivenShape[];
  /** Values that are marked: the objective and thresholds do not have to be visible, the objective has. */
  slo: number | undefined;
  config: FieldConfig;
  log: boolean;
}

const ROOM_ABOVE = 1.06;
const ROOM_FOR_OVERFLOW = 1.18;
/** Lower end of a logarithmic axis as a fraction of the highest value, when nothing else determines it. */
const DECADES = 1e-3;

/** From 0 (latencies have a zero) to the highest edge of an interval, unless the field options say otherwise. */
export function valueRange({ lines, given, slo, config, log }: Request): ValueRange {
  let low = 0;
  let top = slo ?? 0;
  let smallest = slo && slo > 0 ? slo : Infinity;
  const edges = new Set<number>();
  const take = (value: number) => {
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      top = Math.max(top, value);
      smallest = value > 0 ? Math.min(smallest, value) : smallest;
    }
  };
  for (const { series, index } of lines) {
    const { columns, length } = series.points;
    const column = columns[index];
    for (let i = 0; column && i < length; i++) {
      const high = column.high[i] ?? NaN;
      take(column.estimate[i] ?? NaN);
      take(column.low[i] ?? NaN);
      take(high);
      if (high === Infinity) {
        edges.add(series.source.bounds.at(-2) ?? column.low[i] ?? NaN);
      }
    }
  }
  for (const { line } of given) {
    line.values.forEach((value) => take(value ?? NaN));
  }
  const edge = Math.max(0, ...edges);
  const room = Math.max(top * ROOM_ABOVE, edge * ROOM_FOR_OVERFLOW) || 1;
  const high = config.max ?? room;
  const from = config.min ?? (log ? Math.min(smallest, high * 0.5) : low);
  return {
    low: log && !(from > 0) ? high * DECADES : Math.min(from, high),
    high,
    overflowEdges: [...edges].sort((a, b) => a - b),
  };
}
