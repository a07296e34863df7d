import type { FieldConfig } from '@grafana/data';
import type { PercentileLine } from './lines.ts';

/** The values that the vertical axis shows. */
export interface ValueRange {
  low: number;
  high: number;
  /** Largest finite bucket bounds that a percentile has exceeded; there is room above them. */
  overflowEdges: number[];
}

const ROOM_ABOVE = 1.06;
const ROOM_FOR_OVERFLOW = 1.18;

/** From 0 (latencies have a zero) to the highest edge of an interval, unless the field options say otherwise. */
export function valueRange(lines: readonly PercentileLine[], slo: number | undefined, config: FieldConfig): ValueRange {
  let low = 0;
  let top = slo ?? 0;
  const edges = new Set<number>();
  for (const { series, index } of lines) {
    for (const { percentiles } of series.points) {
      const percentile = percentiles[index];
      if (!percentile) {
        continue;
      }
      for (const value of [percentile.estimate, percentile.low, percentile.high]) {
        if (Number.isFinite(value)) {
          low = Math.min(low, value);
          top = Math.max(top, value);
        }
      }
      if (percentile.high === Infinity) {
        edges.add(series.source.bounds.at(-2) ?? percentile.low);
      }
    }
  }
  const edge = Math.max(0, ...edges);
  const room = Math.max(top * ROOM_ABOVE, edge * ROOM_FOR_OVERFLOW) || 1;
  const high = config.max ?? room;
  return { low: Math.min(config.min ?? low, high), high, overflowEdges: [...edges].sort((a, b) => a - b) };
}
