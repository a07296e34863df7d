import type { Sweep, SweepSummary } from '../sweeps/sweep-shape.ts';
import type { DamagedRun, ListPage } from './service.ts';

/** A sweep of stored runs. The id is the same for all time: it is derived from what its runs have in common. */
export interface StoredSweep extends Sweep {
  readonly sweep_id: string;
}

export type ListedSweep = SweepSummary<StoredSweep>;

/** `GET /sweeps`. */
export interface SweepsResponse extends ListPage {
  readonly sweeps: readonly ListedSweep[];
  /** Older runs that were not read. */
  readonly omitted_runs: number;
  readonly unreadable_runs: readonly DamagedRun[];
}
