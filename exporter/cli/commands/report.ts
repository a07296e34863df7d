import { hasCode, reasonOf } from '../../errors/expected-error.ts';
import { join } from 'node:path';
import { SWEEP_PERCENTILES } from '../../../core/sweeps/sweep-figures.ts';
import { AIPERF_FOLDER, writeAiperf } from '../../exports/aiperf-summary.ts';
import { VIEW_FIELDS } from '../../report/request-view.ts';
import { viewOfRecords, writeReport } from '../../report/write-report.ts';
import { RUN_EXPORTS } from '../../run/run-request.ts';
import type { RunListing, RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { choice, flag, integer, text } from '../options/options.ts';
import { openRuns } from '../open-runs.ts';
import { namedSweeps, type NamedSweeps } from './runs/named-sweeps.ts';
import { namedRuns } from './runs/stored-runs.ts';
import { reportSweeps, type SweepReportOptions } from '../show-group.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  export: choice(
    ['none', ...RUN_EXPORTS] as const,
    "also export the run's summary in another tool's format: aiperf/profile_export_aiperf.json and .csv in the run directory",
    'none',
  ),
  percentile: choice(SWEEP_PERCENTILES, 'with a group or scenario: percentile of the latencies', 'p99'),
  gpus: integer(
    'with a group or scenario: GPUs of each server; default: as its metrics report',
    { min: 1, max: 1_000_000 },
    null,
  ),
  json: flag('print the paths as JSON'),
};

const USAGE = 'llmbench report RUN|GROUP|scenario:NAME [options]';
const EXAMPLES = [
  'llmbench report latest',
  'llmbench report my-sweep --gpus 8 --percentile p90',
  'llmbench report scenario:nightly',
  'llmbench report 20261121T190000Z-abcdefghij',
  'llmbench report nightly-7 --export aiperf',
];

/** Writes the report of a finished run again from its directory, or that of a sweep with its curves. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: 1 } },
  async ({ options: values, positionals }) => {
    const [runId] = positionals;
    if (runId === undefined)
      throw new CliError('RUN, GROUP or scenario:NAME is required: llmbench report RUN; `llmbench runs` lists them');
    const store = await openRuns(values['runs-dir']);
    const sweeps = await namedSweeps(store, runId);
    const written =
      sweeps === null
        ? await writtenFiles(store, runId, values.export === 'aiperf')
        : { report: await sweepReport(store, sweeps, values) };
    process.stdout.write(values.json ? `${JSON.stringify(written)}\n` : `${Object.values(written).join('\n')}\n`);
    return ExitCode.done;
  },
);

async function sweepReport(
  store: RunStore,
  sweeps: NamedSweeps,
  options: SweepReportOptions & { readonly export: 'none' | 'aiperf' },
): Promise<string> {
  if (options.export !== 'none') throw new CliError(`--export ${options.export} requires a single run`);
  try {
    return await reportSweeps(store, sweeps, options);
  } catch (error) {
    throw new CliError(`the report of ${sweeps.name} cannot be written: ${reasonOf(error)}`, ExitCode.failed);
  }
}

async function writtenFiles(
  store: RunStore,
  runId: string,
  asAiperf: boolean,
): Promise<{ report: string; aiperf?: string }> {
  const listings = await store.list();
  const listed = (id: string): RunListing | undefined => listings.find(({ run_id }) => run_id === id);
  const found = listed(runId) ?? listed((await namedRuns(store, [runId]))[0]?.run_id ?? runId);
  if (found === undefined) throw new CliError(`no run ${runId} in ${store.place}; \`llmbench runs\` lists them`);
  if (found.run === null) throw new CliError(`${found.run_id}: ${found.damage}`, ExitCode.failed);
  const { run: file } = found;
  const path = await store.wholePathOf(file.run_id);
  const { temporaryFor } = store;
  try {
    const result = await store.readResult(found.run_id);
    const view = () => viewOfRecords(store.readRecordGroups(file, VIEW_FIELDS));
    const report = await writeReport(path, file, result, view, temporaryFor);
    if (!asAiperf) return { report };
    const aiperf = join(path, AIPERF_FOLDER);
    await writeAiperf(aiperf, file, result, store.readRecords(file), temporaryFor);
    return { report, aiperf };
  } catch (error) {
    throw new CliError(
      hasCode(error, 'failed') ? error.message : `${found.run_id}: ${reasonOf(error)}`,
      ExitCode.failed,
    );
  }
}
