import type { FieldConfig } from '@grafana/data';
import type { CdfStep } from './cdf-steps.ts';

/** The values that the axis of a distribution shows. */
export interface CdfRange {
  low: number;
  high: number;
  log: boolean;
  /** Largest finite bounds beyond which something was observed. */
  overflowEdges: number[];
}

interface Request {
  distributions: ReadonlyArray<readonly CdfStep[]>;
  /** Values that have to be visible. */
  marks: readonly number[];
  scale: 'auto' | 'linear' | 'log';
  config: FieldConfig;
}

/** Values that differ by more than this factor are shown on a logarithmic axis. */
const LARGEST_LINEAR = 40;
const ROOM = 1.05;
const ROOM_FOR_OVERFLOW = 1.25;

/** From the lowest to the highest bucket that holds something, unless the field options say otherwise. */
export function cdfRange({ distributions, marks, scale, config }: Request): CdfRange {
  const filled = distributions.flatMap((steps) => steps.filter(({ from, to }) => to > from));
  const overflowEdges = filled.flatMap(({ low, high }) => (high === Infinity ? [low] : []));
  const edges = [...filled.flatMap(({ low, high }) => [low, high]), ...marks].filter(Number.isFinite);
  const top = Math.max(0, ...edges);
  const high = config.max ?? (Math.max(top * ROOM, Math.max(0, ...overflowEdges) * ROOM_FOR_OVERFLOW) || 1);
  const positive = edges.filter((edge) => edge > 0 && edge < high);
  const smallest = Math.min(...positive, high / 2);
  const log = scale === 'log' || (scale === 'auto' && high / smallest > LARGEST_LINEAR);
  const low = config.min ?? (log ? smallest / 2 : Math.min(0, ...edges));
  return {
    low: log && !(low > 0) ? smallest / 2 : Math.min(low, high),
    high,
    log,
    overflowEdges: [...new Set(overflowEdges)].sort((a, b) => a - b),
  };
}
