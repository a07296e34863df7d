import { join } from 'node:path';
import { AIPERF_FOLDER, ExportError, writeAiperf } from '../../exports/write-aiperf.ts';
import { viewOfRecords, writeReport } from '../../report/write-report.ts';
import { RUN_EXPORTS } from '../../run/run-files.ts';
import type { RunListing, RunStore } from '../../store/run-store.ts';
import { reasonOf } from '../../errors/store-errors.ts';
import { CliError, ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { choice, flag, readArguments, text } from '../options/options.ts';
import { openRuns } from '../open-runs.ts';
import { namedRuns } from './runs/stored-runs.ts';

const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  export: choice(
    ['none', ...RUN_EXPORTS] as const,
    "also export the run in another tool's format: aiperf/profile_export* in the run directory",
    'none',
  ),
  json: flag('print the paths as JSON'),
};

const USAGE = 'llmbench report RUN [options]';
const EXAMPLES = [
  'llmbench report latest',
  'llmbench report 20261121T190000Z-abcdefghij',
  'llmbench report nightly-7 --export aiperf',
];

/** Writes the report of a finished run again from its directory. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'RUN', most: 1 });
  const [runId] = positionals;
  if (runId === undefined) throw new CliError('RUN is required: llmbench report RUN; `llmbench runs` lists them');
  const store = await openRuns(values['runs-dir']);
  const written = await writtenFiles(store, runId, values.export === 'aiperf');
  process.stdout.write(values.json ? `${JSON.stringify(written)}\n` : `${Object.values(written).join('\n')}\n`);
  return ExitCode.done;
}

async function writtenFiles(
  store: RunStore,
  runId: string,
  asAiperf: boolean,
): Promise<{ report: string; aiperf?: string }> {
  const listings = await store.list();
  const listed = (id: string): RunListing | undefined => listings.find(({ run_id }) => run_id === id);
  const found = listed(runId) ?? listed((await namedRuns(store, [runId]))[0]?.run_id ?? runId);
  if (found === undefined) throw new CliError(`no run ${runId} in ${store.directory}; \`llmbench runs\` lists them`);
  if (found.run === null) throw new CliError(`${found.run_id}: ${found.damage}`, ExitCode.failed);
  const { run: file, path } = found;
  try {
    const result = await store.readResult(found.run_id);
    const report = await writeReport(path, file, result, () => viewOfRecords(store.readRecords(file)));
    if (!asAiperf) return { report };
    const aiperf = join(path, AIPERF_FOLDER);
    await writeAiperf(aiperf, file, result, store.readRecords(file));
    return { report, aiperf };
  } catch (error) {
    throw new CliError(
      error instanceof ExportError ? error.message : `${found.run_id}: ${reasonOf(error)}`,
      ExitCode.failed,
    );
  }
}
