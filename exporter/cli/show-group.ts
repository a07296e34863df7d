import { pathToFileURL } from 'node:url';
import type { SweepPercentile } from '../../core/sweeps/sweep-figures.ts';
import { sweepNames } from '../../core/sweeps/sweep-names.ts';
import { reasonOf } from '../errors/expected-error.ts';
import { writeSweepReport } from '../report/sweep/sweep-page.ts';
import type { RunStore } from '../store/run-store.ts';
import { storedSweepRuns, sweepsOfRuns } from '../sweeps/stored-sweeps.ts';
import type { NamedSweeps } from './commands/runs/named-sweeps.ts';
import { storeOf } from './commands/runs/stored-runs.ts';
import { spreadTables, groupTable, type GroupRun, sweepTable } from './tables/group-table.ts';

export interface SweepReportOptions {
  readonly percentile: SweepPercentile;
  /** Null: as the runs report. */
  readonly gpus: number | null;
}

const DEFAULT_SWEEP_REPORT: SweepReportOptions = { percentile: 'p99', gpus: null };

/** Writes the report with the curves of a group or scenario. Returns its path. */
export function reportSweeps(store: RunStore, named: NamedSweeps, options: SweepReportOptions): Promise<string> {
  const { name, sweeps, notes } = named;
  const scenarios = [...new Set(sweeps.map(({ scenario }) => scenario))].join(', ');
  const models = [...new Set(sweeps.flatMap(({ model }) => model ?? []))];
  const parts = [scenarios, ...(models.length === 1 ? models : []), ...(scenarios === name ? [] : [name])];
  const title = parts.join(', ');
  return writeSweepReport(store.directory, name, { title, sweeps, names: sweepNames(sweeps), notes, ...options });
}

/**
 * Prints the runs of one command in one table: those of a sweep by load, with the path of their report, others as they
 * were requested. `width`: characters of a line.
 */
export async function showGroup(runs: readonly GroupRun[], runsDirectory: string, width?: number): Promise<void> {
  const groupId = runs[0]?.request.group?.group_id ?? '';
  process.stdout.write(`\ngroup       ${groupId}\n`);
  const runIds = runs.map(({ performed }) => performed.result.run_id);
  try {
    const store = await storeOf(runsDirectory);
    const found = await sweepsOfRuns(storedSweepRuns(store), runIds);
    const runsInSweeps = found.sweeps.flatMap(({ steps }) => steps.flatMap((step) => step.runs)).length;
    if (runsInSweeps < runs.length) {
      process.stdout.write(`${groupTable(runs)}\n`);
      return;
    }
    process.stdout.write(`${[sweepTable(found.sweeps, width), ...spreadTables(runs)].join('\n')}\n`);
    const path = await reportSweeps(store, { ...found, name: groupId, runIds, notes: [] }, DEFAULT_SWEEP_REPORT);
    process.stdout.write(`report      ${pathToFileURL(path).href}\n`);
  } catch (error) {
    process.stderr.write(`the report of the group is not written: ${reasonOf(error)}\n`);
  }
}
