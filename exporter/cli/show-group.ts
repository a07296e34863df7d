import { pathToFileURL } from 'node:url';
import { spreadTables, groupTable, type GroupRun } from './tables/group-table.ts';
import { sweepTable } from './tables/sweep-table.ts';
import { storedSweepRuns, sweepsOfRuns } from '../sweeps/stored-sweeps.ts';
import { reasonOf } from '../errors/store-errors.ts';
import { DEFAULT_SWEEP_REPORT, reportSweeps } from './commands/sweep-report.ts';
import { storeOf } from './commands/runs/stored-runs.ts';

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
