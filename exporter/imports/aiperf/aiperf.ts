import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { ALONE, fileOf, filesBy, reportedRun } from '../importer.ts';
import type { FileGroup, RecognizedFile, ImportContext, ImportedRun, Importer } from '../importer.ts';
import { Fields, publicOriginOrNull } from '../reading/fields.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { statedTime } from '../reading/wall-time.ts';
import { readInputConfig } from './input-config.ts';
import {
  GPU_RECORDS,
  RECORDS,
  SERVERS_CSV,
  SERVERS_JSON,
  SERVERS_JSONL,
  SERVERS_PARQUET,
  SUMMARY,
  SUMMARY_CSV,
  recognizeAiperf,
} from './recognize.ts';
import { readAiperfRecords, recordsOrigin } from './records.ts';
import { readAiperfServers } from './servers.ts';
import { CSV_ROUNDING, summaryOfCsv, statedSummary } from './summary.ts';

/** Names that files have without `--profile-export-prefix`; the prefix of all of them is the same run. */
const DEFAULT_PREFIX = 'profile_export';
const PARTS = /(_aiperf|_server_metrics|_gpu_telemetry|_records)$/;
const SEPARATE = /^(server_metrics_export|gpu_telemetry_export)$/;

/** A repeat: `run_0001`, `trial_0001`. A step of a sweep: `concurrency_8`, `search_iter_0003`. */
const REPEAT_FOLDER = /^(run|trial)_(\d+)$/;
const STEP_FOLDER =
  /^(search_iter|concurrency|prefill_concurrency|request_rate|isl|osl|num_users|user_centric_rate|batch_size|rate)_(\d+(\.\d+)?)$/;
const BETWEEN = /^(profile_runs|runs|trials|phases)$/;

/**
 * One group per run: the files of one folder with one prefix. Of a summary in JSON and in CSV the JSON is read; of
 * several forms of the server metrics all, because each reports something that the others do not.
 */
function groupAiperf(files: readonly RecognizedFile[]): FileGroup[] {
  const groups = withSeparateFiles(filesBy(withoutPhases(files), prefixOf)).map(usedFiles);
  const places = placements(groups.map((group) => group[0]?.file.folder ?? ''));
  return groups.map((group, i) => ({
    files: group,
    name: nameOf(group, groups),
    ...(places[i] ?? ALONE),
    // AIPerf writes the summary last.
    partial: !group.some(isOf(SUMMARY, SUMMARY_CSV)),
  }));
}

/**
 * Without the folders `phases/NAME` below a run, in which AIPerf repeats its figures of each phase: a warm-up is no run,
 * and the records of the run have its phases.
 */
function withoutPhases(files: readonly RecognizedFile[]): RecognizedFile[] {
  const runs = new Set(files.filter(isClient).map(({ file }) => file.folder));
  return files.filter(({ file: { folder } }) => {
    const phases = dirname(folder);
    return basename(phases) !== 'phases' || !runs.has(dirname(phases));
  });
}

function prefixOf(name: string): string {
  const stem = name.replace(/\.[^.]+$/, '');
  return SEPARATE.test(stem) ? DEFAULT_PREFIX : stem.replace(PARTS, '');
}

const isOf =
  (...formats: readonly string[]) =>
  ({ recognition }: RecognizedFile): boolean =>
    formats.includes(recognition.format);

const isClient = isOf(SUMMARY, SUMMARY_CSV, RECORDS);

/** Files with the standard name next to a client's files with a prefix belong to these when they are the only ones. */
function withSeparateFiles(groups: readonly RecognizedFile[][]): RecognizedFile[][] {
  const homeless = groups.filter((group) => !group.some(isClient));
  const runs = groups.filter((group) => group.some(isClient));
  const left: RecognizedFile[][] = [];
  for (const group of homeless) {
    const there = runs.filter((run) => run[0]?.file.folder === group[0]?.file.folder);
    if (there.length === 1) there[0]?.push(...group);
    else left.push(group);
  }
  return [...runs, ...left];
}

function usedFiles(group: readonly RecognizedFile[]): RecognizedFile[] {
  const has = (format: string): boolean => group.some(isOf(format));
  const unused = new Set([
    ...(has(SUMMARY) ? [SUMMARY_CSV] : []),
    ...(has(SERVERS_JSONL) ? [SERVERS_CSV, SERVERS_PARQUET] : []),
    ...(has(SERVERS_JSON) ? [SERVERS_CSV] : []),
  ]);
  const order = [SUMMARY, SUMMARY_CSV, RECORDS, SERVERS_JSON, SERVERS_JSONL, SERVERS_PARQUET, SERVERS_CSV, GPU_RECORDS];
  return group
    .filter(({ recognition }) => !unused.has(recognition.format))
    .sort((a, b) => order.indexOf(a.recognition.format) - order.indexOf(b.recognition.format));
}

/**
 * The folder's name; the file's where a folder holds several runs. Folders named by AIPerf itself have their own
 * before them.
 */
function nameOf(group: readonly RecognizedFile[], groups: readonly (readonly RecognizedFile[])[]): string {
  const folder = group[0]?.file.folder ?? '';
  const isOnly = groups.filter((other) => other[0]?.file.folder === folder).length === 1;
  if (!isOnly) return prefixOf(group[0]?.file.name ?? '');
  return isPlace(basename(folder)) ? withParent(folder) : folderName(folder);
}

/** Its parent's name too where many folders have the same. */
function folderName(folder: string): string {
  const name = basename(folder);
  return /^(artifacts?|aiperf|profile|results?)$/.test(name) ? withParent(folder) : name;
}

const withParent = (folder: string): string => `${basename(dirname(folder))}/${basename(folder)}`;

/** The name of a sweep, or of repeats, that its runs have in common; null for a folder of neither. */
function sweepName(folder: string): string | null {
  const place = parsePlace(folder);
  return place === null ? null : folderName(place.root);
}

const isPlace = (name: string): boolean => REPEAT_FOLDER.test(name) || STEP_FOLDER.test(name) || BETWEEN.test(name);

type Placement = Pick<FileGroup, 'group_id' | 'step' | 'repeat'>;

/** Sweeps and repeats from the folders' names. Steps are numbered in the order of their values. */
function placements(folders: readonly string[]): Placement[] {
  const parsed = folders.map(parsePlace);
  return parsed.map((place) => {
    if (place === null) return ALONE;
    const together = parsed.filter((other) => other !== null && other.root === place.root);
    /** The rank of its value among the different values, from 0. */
    const rank = (name: 'step' | 'repeat'): number | null => {
      const value = place[name];
      if (value === null) return null;
      const values = together.map((other) => other?.[name] ?? null);
      return new Set(values.filter((other) => other !== null && other < value)).size;
    };
    return { group_id: groupId(place.root), step: rank('step'), repeat: rank('repeat') };
  });
}

interface Place {
  /** The folder above the sweep. */
  readonly root: string;
  readonly step: number | null;
  readonly repeat: number | null;
}

function parsePlace(folder: string): Place | null {
  let root = folder;
  let step: number | null = null;
  let repeat: number | null = null;
  for (let name = basename(root); isPlace(name); name = basename(root)) {
    repeat ??= numberOf(REPEAT_FOLDER, name);
    step ??= numberOf(STEP_FOLDER, name);
    root = dirname(root);
  }
  return step === null && repeat === null ? null : { root, step, repeat };
}

function numberOf(pattern: RegExp, name: string): number | null {
  const text = pattern.exec(name)?.[2];
  return text === undefined ? null : Number(text);
}

/** The folder's name, made unique by a hash of where it is: `artifacts` is a common name. */
function groupId(root: string): string {
  const name = basename(root)
    .replace(/[^0-9A-Za-z]+/g, '-')
    .slice(0, 40);
  return `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}

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
