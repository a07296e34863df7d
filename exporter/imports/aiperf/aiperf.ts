import { Fields } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { fileOf, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer } from '../importer.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { statedTime } from '../reading/wall-time.ts';
import { CSV_ROUNDING, summaryOfCsv } from './csv-summary.ts';
import { groupAiperf, sweepName } from './group.ts';
import { readInputConfig } from './input-config.ts';
import { RECORDS, recognizeAiperf, SUMMARY, SUMMARY_CSV } from './recognize.ts';
import { readAiperfRecords } from './records.ts';
import { recordsOrigin } from './records-origin.ts';
import { readAiperfServers } from './servers.ts';
import { statedSummary } from './summary.ts';

/** The artifact folders of NVIDIA AIPerf, of every version from 0.1 to 0.13. */
export const AIPERF: Importer = {
  tool: 'aiperf',
  recognize: recognizeAiperf,
  group: groupAiperf,
  // The first for when the run began.
  passes: 2,
  read: readAiperf,
};

/** Versions whose files were read when this was written. */
const KNOWN_SCHEMAS = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5'];

async function* readAiperf(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const [json, csv, records] = [fileOf(group, SUMMARY), fileOf(group, SUMMARY_CSV), fileOf(group, RECORDS)];
  if (json === null && csv === null && records === null) {
    throw new ImportRefusal(
      'these are server or GPU metrics without the results of a client: import the folder that has profile_export.jsonl ' +
        'or profile_export_aiperf.json too',
    );
  }
  const summary = await readSummary(json, csv, notes, context);
  const { key, url, serverTokens } = readInputConfig(summary.object('input_config'), notes);
  const rounding = json === null ? CSV_ROUNDING : 0;
  const stated = summary.names.length === 0 ? {} : statedSummary(summary, notes, { serverTokens, rounding });
  const origin = records === null ? null : await recordsOrigin(records, context);
  const zero_ns = origin?.zero_ns ?? null;
  const start = zero_ns === null ? naiveStart(summary, notes, context) : isoOf(zero_ns);
  const aborted = summary.boolean('was_cancelled') === true || summary.boolean('is_complete') === false;
  const info = runInfo(summary, group);
  const servers = await readAiperfServers(group, zero_ns, notes, context);
  summary.ignore('schema_version', 'aiperf_version', 'benchmark_id', 'start_time', 'end_time', 'error_summary');
  yield reportedRun({
    tool: 'aiperf',
    version: summary.text('aiperf_version'),
    format: json !== null ? SUMMARY : csv !== null ? SUMMARY_CSV : RECORDS,
    schema_version: schemaVersion(summary, notes),
    // Repeats and steps are comparable under one name.
    scenario: info.scenario ?? sweepName(group.files[0]?.file.folder ?? ''),
    target: { origin: url === null ? null : publicOriginOrNull(url), system: servers?.system ?? null },
    key,
    placement: info.placement,
    status: aborted ? 'aborted' : 'completed',
    failure: aborted ? 'AIPerf was canceled before its end' : null,
    start,
    records: records === null || origin === null ? null : readAiperfRecords(records, origin, notes, context),
    stated,
    servers: servers?.servers ?? null,
    notes,
  });
}

async function readSummary(
  json: SourceFile | null,
  csv: SourceFile | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<Fields> {
  if (json !== null) return new Fields(await readJsonDocument(json, notes, context), notes);
  if (csv === null) return new Fields({}, notes);
  notes.add('values are from a CSV with two decimals');
  return new Fields(summaryOfCsv(await readText(csv, context)), notes);
}

/** The time that the summary reports, when a zone was given for it: Python wrote it as local time without one. */
function naiveStart(summary: Fields, notes: ImportNotes, { timeZone }: ImportContext): string | null {
  const text = summary.text('start_time');
  if (text === null) return null;
  return statedTime(text, timeZone, notes);
}

const isoOf = (zero_ns: bigint): string => new Date(Number(zero_ns / 1_000_000n)).toISOString();

function schemaVersion(summary: Fields, notes: ImportNotes): string | null {
  const version = summary.text('schema_version');
  if (version !== null && !KNOWN_SCHEMAS.includes(version)) {
    notes.add(`schema version ${version} of AIPerf's summary is not known here: known members were imported`);
  }
  return version;
}

/** The run's position in a sweep as AIPerf reports it; the folders' names give the rest. */
function runInfo(
  summary: Fields,
  group: FileGroup,
): { readonly scenario: string | null; readonly placement: Pick<FileGroup, 'group_id' | 'step' | 'repeat'> } {
  const info = summary.object('run_info');
  const group_id = info?.text('sweep_id') ?? group.group_id;
  if (info === null || group_id === null) return { scenario: info?.text('run_label') ?? null, placement: group };
  return {
    scenario: null,
    placement: {
      group_id,
      step: info.count('variation_index') ?? group.step,
      repeat: group.repeat ?? info.count('trial'),
    },
  };
}
