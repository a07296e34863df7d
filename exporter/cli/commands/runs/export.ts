import { join } from 'node:path';
import { AIPERF_FOLDER, writeAiperf } from '../../../exports/aiperf-summary.ts';
import { besideOutput } from '../../../files/durable-file.ts';
import { rowText, ROW_COLUMNS, runRows } from '../../../store/export/run-rows.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { STEP_COLUMNS, stepRows } from '../../../sweeps/stored-sweeps.ts';
import { codeOf, reasonOf } from '../../../errors/expected-error.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { choice, text } from '../../options/options.ts';
import { namedSweeps } from './named-sweeps.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf, written } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  format: choice(['csv', 'jsonl', 'parquet', 'aiperf'] as const, 'output format', 'csv'),
  rows: choice(
    ['requests', 'measures', 'steps'] as const,
    'one row per request, per measure of a run, or per load of a sweep',
    'requests',
  ),
  output: text(
    'PATH',
    'output file (csv, jsonl: default stdout); with aiperf a directory with one subdirectory per run',
    null,
  ),
};
const USAGE = 'llmbench runs export RUN|GROUP|scenario:NAME… [options]';
const EXAMPLES = [
  'llmbench runs export latest > requests.csv',
  'llmbench runs export 20261121T18 20261121T19 --rows measures --format jsonl',
  'llmbench runs export my-sweep --rows steps > sweep.csv',
  'llmbench runs export latest --format parquet --output requests.parquet',
  'llmbench runs export latest --format aiperf --output artifacts',
];

/** Exports runs in a format that other programs read. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } },
  async ({ options: values, positionals }) => {
    const names = atLeastOne(positionals, USAGE);
    const { format, output, rows: kind } = values;
    if (format === 'parquet' && output === null) throw new CliError('--format parquet requires --output PATH');
    const store = await storeOf(values['runs-dir']);
    const named = await Promise.all(names.map((name) => namedSweeps(store, name)));
    const groups = named.filter((sweeps) => sweeps !== null);
    if (kind === 'steps' && groups.length < names.length)
      throw new CliError('--rows steps requires groups or scenario:NAME, not runs');
    const single = await namedRuns(
      store,
      names.filter((_, i) => named[i] === null),
    );
    const runIds = [...new Set([...single.map(({ run_id }) => run_id), ...groups.flatMap((group) => group.runIds)])];
    try {
      if (format === 'aiperf') {
        await exportAiperf(store, runIds, output);
        return ExitCode.done;
      }
      const rows = kind === 'steps' ? stepRows(groups.flatMap(({ sweeps }) => sweeps)) : runRows(store, runIds, kind);
      const columns = kind === 'steps' ? STEP_COLUMNS : ROW_COLUMNS[kind];
      if (output !== null) {
        const { writeRows } = await import('../../../store/export/write-rows.ts');
        await writeRows(output, columns, rows, format);
        process.stdout.write(`${output}\n`);
      } else if (format !== 'parquet') {
        for await (const piece of rowText(columns, rows, format)) await written(piece);
      }
      return ExitCode.done;
    } catch (error) {
      const reason = reasonOf(error);
      // Of files that are read, the message has the path.
      const isOfOutput = output !== null && codeOf(error) !== null;
      throw new CliError(isOfOutput ? `--output ${output} cannot be written: ${reason}` : reason, ExitCode.failed);
    }
  },
);

async function exportAiperf(store: RunStore, runIds: readonly string[], output: string | null): Promise<void> {
  for (const runId of runIds) {
    const folder = output === null ? join(store.pathOf(runId), AIPERF_FOLDER) : join(output, runId);
    const run = await store.readRun(runId);
    const temporaryFor = output === null ? store.temporaryFor : besideOutput;
    await writeAiperf(folder, run, await store.readResult(runId), store.readRecords(run), temporaryFor);
    process.stdout.write(`${folder}\n`);
  }
}
