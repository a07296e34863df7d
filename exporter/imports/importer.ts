import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { NOT_COUNTED, NOT_TRACED, type RequestRecord, type RequestCounts } from '../../core/run/record.ts';
import type { MeasureResult, ResultFile, ServersResult } from '../../core/run/result.ts';
import type { ComparisonKey, RunFile } from '../../core/run/run.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import type { ClientRequests } from '../servers/summary/request-counts.ts';
import type { ImportNotes } from './import-notes.ts';
import type { SourceFile } from './reading/source-file.ts';

/**
 * Reads the results of one tool. `recognize` is called for every file that a walk found, `group` once with the files of
 * this tool, `read` once per group that is not in the store already. Importers hold no state between calls.
 */
export interface Importer {
  /** The tool's name as in run.json: `aiperf`, `vllm`, … */
  readonly tool: string;
  /**
   * Whether the file is this tool's, from its content: `file.head` is its start, unpacked. The name may only confirm.
   * Must be quick and must not throw; null when it is something else.
   */
  recognize(file: SourceFile): Recognition | null;
  /** Why it does not read a file that no importer recognizes, in one line without the file's name. Absent: it is not its own. */
  whyNot?(file: SourceFile): string;
  /** Which files belong to one run. Absent: each file is a separate group. Files in no group are not imported. */
  group?(files: readonly RecognizedFile[]): readonly FileGroup[];
  /**
   * The name of the result, in the same folder, that this file is a conversion of; null when the name does not report it.
   * The conversion is passed over where the result itself is imported. Absent: no file is one.
   */
  conversionOf?(file: SourceFile): string | null;
  /** How often `read` goes through the files of a group, for the progress display; default 1. */
  readonly passes?: number;
  /**
   * The runs of a group, one after the other: most have one, an appended or a multi-benchmark file has several. Throws
   * `ImportRefusal` when the files cannot be imported; runs that were given out before stay imported.
   */
  read(group: FileGroup, context: ImportContext): AsyncIterable<ImportedRun>;
}

/** What a file is. */
export interface Recognition {
  /** The format's name: `aiperf-summary`, `vllm-bench-serve`, … */
  readonly format: string;
  /** Set for a file that belongs to a result and holds nothing to import: why, in a few words. It is passed over. */
  readonly ignored?: string;
}

export interface RecognizedFile {
  readonly file: SourceFile;
  readonly recognition: Recognition;
}

/** Files that are read together. */
export interface FileGroup {
  readonly files: readonly RecognizedFile[];
  /** What the table of an import calls it: the folder, or the file. */
  readonly name: string;
  /** Runs that belong together (a sweep, repeats) have one; null for a single run. */
  readonly group_id: string | null;
  /** Which step of a sweep, and which repeat of it, from 0. */
  readonly step: number | null;
  readonly repeat: number | null;
  /** Files that the tool writes last are missing: while a folder is watched they are waited for. */
  readonly partial?: boolean;
}

/** The place of a run that is no step and no repeat. */
export const ALONE = { group_id: null, step: null, repeat: null } as const;

/** The file of a format among those of a group. */
export function fileOf({ files }: FileGroup, format: string): SourceFile | null {
  return files.find(({ recognition }) => recognition.format === format)?.file ?? null;
}

export interface ImportContext {
  /** IANA zone of times that report none (`--time-zone`); null: such a time is not used. `wallTime` does this. */
  readonly timeZone: string | null;
  readonly signal: AbortSignal;
  /** Receives the number of stored bytes read; `readBytes` and what is built on it call it. */
  readonly progress: (bytes: number) => void;
}

/**
 * What of a `comparison_key` the files report. A key that is absent or undefined is not known; null keeps its meaning.
 */
export type KnownKey = { readonly [Name in keyof Omit<ComparisonKey, 'measure_definitions'>]?: ComparisonKey[Name] };

/** One run as a file reports it, in base units. Nothing is guessed: what the file does not report is null. */
export interface ImportedRun {
  /** Which of several in one group, stable from import to import (a position or the tool's id); null when alone. */
  readonly part: string | null;
  /**
   * SHA-256 of the bytes that are this run's alone, a line of a file to which lines are appended: its identity,
   * whatever else the file holds. Absent or null: the identity is that of the group's content and `part`.
   */
  readonly sha256?: string | null;
  readonly tool: { readonly name: string; readonly version: string | null };
  readonly format: { readonly name: string; readonly schema_version: string | null };
  /** The name of the recipe, when the files carry one. */
  readonly scenario: string | null;
  /** Scheme, host and port that the requests were sent to; null when the files do not report. */
  readonly target: {
    readonly origin: string | null;
    readonly system: string | null;
    readonly system_version: string | null;
  };
  readonly key: KnownKey;
  /** Overrides the group's value (a sweep inside one file). */
  readonly placement?: Pick<FileGroup, 'group_id' | 'step' | 'repeat'>;
  readonly status: 'completed' | 'aborted';
  /** Why it was aborted, in one line; null when it was not. */
  readonly failure: string | null;
  /**
   * Wall time of the records' zero, RFC 3339 in UTC with milliseconds; null when the files report no time (never
   * guessed).
   */
  readonly start: string | null;
  /**
   * One pass over the requests, in any order, read as it is consumed; null when the files hold none. `RequestRecord`
   * as in our own runs: ns since `start` (without a start: since the first request sent).
   */
  readonly records: AsyncIterable<RequestRecord> | null;
  /** What the tool itself reports of the run. The `records` are checked against it. */
  readonly stated: StatedResult;
  /** Null when the files report nothing of the servers. */
  readonly servers: ImportedServers | null;
  /** What a reader of the run must know. May grow until `records` has ended. */
  readonly notes: ImportNotes;
}

/** The tool's own figures. */
export interface StatedResult {
  /**
   * From the first request sent to the end of the last; null when not reported. Records of the whole run replace it.
   */
  readonly window_seconds: number | null;
  /** When that window began, nanoseconds since the run's start; absent or null when not reported. */
  readonly window_start_ns?: number | null;
  /** How many requests ended how; null where the files do not report. With timeouts null, `error` is all that failed. */
  readonly requests: RequestCounts;
  /** By reason; empty when not reported. */
  readonly errors: ResultFile['errors'];
  /**
   * In base units. `definition` is that of `core/measures/measures.ts` only where the tool's formula is the same, else
   * one of `core/measures/foreign-definitions.ts`, so that the two are never compared. `statedDistribution` and
   * `statedScalar` make them. Where records give the measure, theirs is in the result: under the same definition it
   * is checked against this, under another a note has it.
   */
  readonly measures: readonly MeasureResult[];
  /** Largest relative difference between these and what records give that is rounding; absent: 1e-6. */
  readonly tolerance?: (stated: MeasureResult) => number;
}

/** The `source` of run.json: which files the run came from. */
export type ImportSource = NonNullable<RunFile['source']>;

/** The servers' side of an imported run. */
export interface ImportedServers {
  /** Called when the run's records have been read; null: the time of this run is unknown. */
  forRun(measured: MeasuredRequests): ServersOfRun | null;
}

/** The facts from the client's records by which the servers' side is read. */
export interface MeasuredRequests {
  /** Ns since the run's start: the first request sent, the end of the last; null without records. */
  readonly window: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly requests: ClientRequests;
  /** How many ok requests of the warm-up ended after this moment, ns since the run's start. */
  readonly warmupAfter: (at_ns: number) => number;
}

/** In the form of our own files. */
export interface ServersOfRun {
  /** `servers` of result.json. */
  readonly result: ServersResult;
  /** `servers.json`. */
  readonly file: (runId: string) => ServersFile;
  /** Writes `servers.parquet`; null when the files hold no samples. */
  readonly writeSamples: ((path: string) => Promise<void>) | null;
}

/** The members that are known: without null and undefined. */
export function known<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

/** What a file reports of a run; what is absent it does not report. */
export interface ReportedFacts extends Partial<Omit<ImportedRun, 'tool' | 'format' | 'target' | 'stated'>> {
  readonly tool: string;
  readonly version?: string | null;
  /** The format's name. */
  readonly format: string;
  readonly schema_version?: string | null;
  readonly notes: ImportNotes;
  readonly target?: Partial<ImportedRun['target']>;
  readonly stated?: Partial<Omit<StatedResult, 'requests'>> & { readonly requests?: Partial<RequestCounts> };
}

/** The run that a file reports, unknown in all else. */
export function reportedRun({ tool, version, format, schema_version, ...reported }: ReportedFacts): ImportedRun {
  const { requests, ...stated } = reported.stated ?? {};
  return {
    part: null,
    scenario: null,
    key: {},
    status: 'completed',
    failure: null,
    start: null,
    records: null,
    servers: null,
    ...reported,
    tool: { name: tool, version: version ?? null },
    format: { name: format, schema_version: schema_version ?? null },
    target: { origin: null, system: null, system_version: null, ...reported.target },
    stated: {
      window_seconds: null,
      errors: {},
      measures: [],
      ...stated,
      requests: { ok: null, error: null, timeout: null, cancelled: null, ...requests },
    },
  };
}

/** What a request has where its file reports nothing. */
export const UNREPORTED = {
  phase: 'measure',
  due_ns: null,
  first_content_ns: null,
  first_output_ns: null,
  last_content_ns: null,
  connection_reused: null,
  connect_ns: null,
  connection_retried: null,
  http_status: null,
  input_tokens: null,
  input_tokens_source: null,
  output_tokens: null,
  output_tokens_source: null,
  reasoning_tokens: null,
  cached_tokens: null,
  requested_output_tokens: null,
  chunk_offsets_ns: [],
  ...NOT_TRACED,
  ...NOT_COUNTED,
} as const satisfies Partial<RequestRecord>;

/** In the order of the numbers in names. */
export const { compare: byNumber } = new Intl.Collator('en', { numeric: true });

/** The files by a key, each with the folder: what belongs together. */
export function filesBy(
  files: readonly RecognizedFile[],
  keyOf: (name: string) => string,
): [RecognizedFile, ...RecognizedFile[]][] {
  const groups = Map.groupBy(files, ({ file }) => `${file.folder}\0${keyOf(file.name)}`);
  return [...groups.values()] as [RecognizedFile, ...RecognizedFile[]][];
}

/**
 * The id of the runs of a folder: from their content, so that a folder that was moved has the same, and another of the
 * same name has not.
 */
export function groupIdOf(folder: string, files: readonly RecognizedFile[]): string {
  const hash = createHash('sha256');
  for (const { file } of files) hash.update(file.head.bytes);
  return `${basename(folder)}-${hash.digest('hex').slice(0, 10)}`;
}

const EXTENSION = /\.(json|ya?ml)(\.\w+)?$/i;

/** Each report for itself; one that a folder has as JSON and as YAML, under the same name, is read as JSON alone. */
export function groupReports(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const nameOf = ({ file: { folder, name } }: RecognizedFile): string => `${folder}/${name.replace(EXTENSION, '')}`;
  const isJson = ({ file }: RecognizedFile): boolean => file.head.text.trimStart().startsWith('{');
  const inJson = new Set(files.filter(isJson).map(nameOf));
  return files
    .filter((each) => isJson(each) || !inJson.has(nameOf(each)))
    .map((each) => ({ files: [each], name: each.file.name, group_id: null, step: null, repeat: null }));
}
