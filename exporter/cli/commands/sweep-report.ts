import { sweepNames } from '../../../core/sweeps/sweep-names.ts';
import type { SweepPercentile } from '../../../core/sweeps/sweep-figures.ts';
import { writeSweepReport } from '../../report/sweep/sweep-page.ts';
import type { RunStore } from '../../store/run-store.ts';
import type { NamedSweeps } from './runs/named-sweeps.ts';

export interface SweepReportOptions {
  readonly percentile: SweepPercentile;
  /** Null: as the runs report. */
  readonly gpus: number | null;
}

export const DEFAULT_SWEEP_REPORT: SweepReportOptions = { percentile: 'p99', gpus: null };

/** Writes the report with the curves of a group or scenario. Returns its path. */
export function reportSweeps(store: RunStore, named: NamedSweeps, options: SweepReportOptions): Promise<string> {
  const { name, sweeps, notes } = named;
  const scenarios = [...new Set(sweeps.map(({ scenario }) => scenario))].join(', ');
  const models = [...new Set(sweeps.flatMap(({ model }) => model ?? []))];
  const parts = [scenarios, ...(models.length === 1 ? models : []), ...(scenarios === name ? [] : [name])];
  const title = parts.join(', ');
  return writeSweepReport(store.directory, name, { title, sweeps, names: sweepNames(sweeps), notes, ...options });
}
