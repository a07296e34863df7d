import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import type { SweepPercentile } from '../../../core/sweeps/sweep-figures.ts';

/** The data of the report of one or several sweeps. */
export interface SweepReport {
  readonly title: string;
  /** At least one. */
  readonly sweeps: readonly Sweep[];
  /** The name of each sweep beside the others. */
  readonly names: readonly string[];
  /** Of the latencies that are drawn where several sweeps are. */
  readonly percentile: SweepPercentile;
  /** GPUs of each sweep; null: as its runs report. */
  readonly gpus: number | null;
  /** What could not be read, one line each. */
  readonly notes: readonly string[];
}

/** GPUs that tokens/s are divided by; null: unknown. */
export const gpusOf = ({ gpus }: SweepReport, sweep: Sweep): number | null => gpus ?? sweep.gpus;

/** The CSS class of the color of a sweep. */
export const colorOf = (place: number): string => `c${(place % COLORS) + 1}`;

const COLORS = 6;
