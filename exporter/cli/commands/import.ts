import { readFile } from 'node:fs/promises';
import { boundYoungGeneration } from '../../load/client/young-generation.ts';
import { boundHeapGrowth } from '../../imports/heap-growth.ts';
import { mappedImporter } from '../../imports/mapped/mapped.ts';
import { parseMapping } from '../../imports/mapped/mapping.ts';
import { importFiles, type ImportReport, type ImportRequest } from '../../imports/import-files.ts';
import type { Importer } from '../../imports/importer.ts';
import { IMPORTERS } from '../../imports/importers.ts';
import { watchFolders } from '../../imports/watch-folders.ts';
import { hasCode, reasonOf, RunsDirectoryError } from '../../errors/expected-error.ts';
import { CliError, ExitCode } from '../failure.ts';
import { ImportProgress } from '../progress/import-progress.ts';
import { importJson, importTable } from '../tables/import-table.ts';
import { importRecorded, PROMETHEUS_OPTIONS } from './import-recorded.ts';
import { openRuns } from '../open-runs.ts';
import { command } from '../command.ts';
import { flag, seconds, text, texts, type Option } from '../options/options.ts';
import { scenarioName, TAGS } from '../options/group-options.ts';
import { untilStopped } from '../until-stopped.ts';
import { isTimeZone } from '../../imports/reading/wall-time.ts';

/** The zone of times that a result reports without one. */
export const timeZoneOption = (help: string): Option<string | null> => ({
  ...text('ZONE', help, null),
  parse(given) {
    const name = given.at(-1) ?? '';
    if (!isTimeZone(name)) throw new Error('a time zone such as UTC or Europe/Berlin');
    return name;
  },
});

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  scenario: scenarioName(
    'name of the benchmark in metrics and comparisons (default: what the tool reports, else the directory)',
    null,
  ),
  tag: TAGS,
  watch: texts('DIR', 'keep running and import new results once they are complete'),
  settle: seconds(
    'with --watch: a directory is complete when nothing in it has changed for this long',
    { min: 0, max: 3600 },
    5,
  ),
  mapping: text('FILE', 'YAML file that maps the columns of a custom CSV or JSON file to fields', null),
  'time-zone': timeZoneOption(
    'time zone of timestamps without one, e.g. Europe/Berlin or UTC; without it such runs have no start time',
  ),
  ...PROMETHEUS_OPTIONS,
  json: flag('print the outcome of each result as JSON'),
};

const USAGE = 'llmbench import PATH… | --prometheus URL --match SELECTOR --from TIME [options]';
const EXAMPLES = [
  'llmbench import artifacts/',
  'llmbench import monday/ tuesday/ --scenario nightly --tag gpu-a',
  'llmbench import results/*.json old/profile_export.jsonl.zst --time-zone UTC',
  'llmbench import --watch /data/benchmarks',
  'llmbench import requests.csv --mapping columns.yaml',
  `llmbench import --prometheus http://prometheus:9090 --match 'job="vllm"' --from 2026-11-27T09:00:00Z --to 2026-11-27T10:00:00Z`,
];
const EXIT_CODES = [
  'exit codes: 0 every result was imported or already known; 1 a result or file was refused, or none was found;',
  '            99 with --check: a regression is open;',
  '            2 invalid options, or a path that does not exist; 130 Ctrl-C (imported runs are kept)',
  '',
].join('\n');

const MAX_PATHS = 10_000;

/** Imports the result files of other tools as runs. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, notes: EXIT_CODES, positionals: { name: 'PATH', max: MAX_PATHS } },
  async ({ options: values, positionals: paths }) => {
    if (values.prometheus !== null) return importRecorded(values, values.prometheus, paths);
    if (paths.length === 0 && values.watch.length === 0) {
      throw new CliError('PATH is required (files or directories): llmbench import PATH…; see --help');
    }
    const stopping = new AbortController();
    void untilStopped().then(() => stopping.abort());
    const request = {
      store: await openRuns(values['runs-dir'], (store) => store.checkWritable()),
      importers: values.mapping === null ? IMPORTERS : [...IMPORTERS, await mappedBy(values.mapping)],
      timeZone: values['time-zone'],
      scenario: values.scenario,
      tags: values.tag,
      signal: stopping.signal,
    };
    const bounds = [boundYoungGeneration(), boundHeapGrowth()];
    try {
      const code = paths.length === 0 ? ExitCode.done : await importOnce({ ...request, paths }, values.json);
      if (values.watch.length === 0) return code;
      await watch(values.watch, values.settle, request, values.json);
      return code;
    } catch (error) {
      if (stopping.signal.aborted) return values.watch.length > 0 ? ExitCode.done : ExitCode.interrupted;
      if (error instanceof RunsDirectoryError) throw new CliError(error.message, ExitCode.failed);
      throw error;
    } finally {
      for (const bound of bounds) bound.stop();
    }
  },
);

/** Files that no importer recognizes are read with the mapping. */
async function mappedBy(path: string): Promise<Importer> {
  try {
    return mappedImporter(parseMapping(await readFile(path, 'utf8'), path));
  } catch (error) {
    throw new CliError(`--mapping ${hasCode(error, 'configuration') ? error.message : `${path}: ${reasonOf(error)}`}`);
  }
}

async function importOnce(request: Omit<ImportRequest, 'onProgress'>, json: boolean): Promise<number> {
  const progress = new ImportProgress(process.stderr);
  let report: ImportReport;
  try {
    report = await importFiles({ ...request, onProgress: progress });
  } finally {
    progress.stop();
  }
  process.stdout.write(json ? `${importJson(report)}\n` : importTable(report));
  return exitCodeOf(report);
}

function exitCodeOf({ outcomes }: ImportReport): number {
  const missing = outcomes.some((outcome) => outcome.status === 'refused' && outcome.missing);
  if (missing) return ExitCode.refused;
  const failed = outcomes.length === 0 || outcomes.some(({ status }) => status === 'refused');
  return failed ? ExitCode.failed : ExitCode.done;
}

async function watch(
  folders: readonly string[],
  settleSeconds: number,
  request: Omit<ImportRequest, 'onProgress' | 'paths'>,
  json: boolean,
): Promise<void> {
  if (!json) process.stdout.write(`watching ${folders.join(', ')}; press Ctrl-C to stop\n`);
  for await (const report of watchFolders({ ...request, folders, settleSeconds })) {
    process.stdout.write(json ? `${importJson(report)}\n` : importTable(report));
  }
}
