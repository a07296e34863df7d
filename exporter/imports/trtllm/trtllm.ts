import type { MeasureResult } from '../../../core/run/result.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { ALONE, fileOf, known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { isObject, Fields } from '../reading/fields.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { readJsonDocument } from '../reading/read-document.ts';
import { readTextLines } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { exactStated } from '../stated/stated-measures.ts';
import {
  checkConsistency,
  reportMeasures,
  requestMeasures,
  engineRecords,
  engineRequests,
  type EngineRequest,
} from './report-figures.ts';

type IterationRow = Readonly<Record<string, unknown>>;

/** What a row reports of its iteration; null where it does not. */
const PER_ITERATION: readonly (readonly [
  measure: string,
  definition: string,
  unit: Unit,
  valueOf: (row: IterationRow) => number | null,
])[] = [
  ['iteration_latency', 'engine_iteration', 'seconds', (row) => amount(row, 'iterLatencyMS', 1e-3)],
  ['requests_active', 'per_engine_iteration', 'requests', (row) => amount(row, 'numActiveRequests')],
  ['requests_queued', 'per_engine_iteration', 'requests', (row) => amount(row, 'numQueuedRequests')],
  ['kv_cache_used_ratio', 'blocks_used_over_blocks_per_iteration', 'ratio', usedBlocks],
];

function usedBlocks({ kvCacheStats: stats }: IterationRow): number | null {
  if (!isObject(stats)) return null;
  const most = amount(stats, 'maxNumBlocks');
  return most === null || most <= 0 ? null : amount(stats, 'usedNumBlocks', 1 / most);
}

/**
 * What `--iteration_log` reports of the engine, one value per iteration. Its lines are Python's way of writing a dict, not
 * JSON; a line that is neither is left out and counted.
 */
async function iterationMeasures(file: SourceFile, notes: ImportNotes, reading: Reading): Promise<MeasureResult[]> {
  const values = PER_ITERATION.map((): number[] => []);
  for await (const row of rowsOf(file, notes, reading)) {
    for (const [i, [, , , valueOf]] of PER_ITERATION.entries()) {
      const value = valueOf(row);
      if (value !== null) values[i]?.push(value);
    }
  }
  return PER_ITERATION.flatMap(
    ([measure, definition, unit], i) =>
      exactStated({ measure, definition, unit, origin: 'server' }, Float64Array.from(values[i] ?? [])) ?? [],
  );
}

async function* rowsOf(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<IterationRow> {
  for await (const { number, text } of readTextLines(file, notes, reading)) {
    const row = rowOf(text);
    if (row !== null) yield row;
    else notes.count('lines of the iteration log left out', `line ${number}`);
  }
}

function rowOf(text: string): IterationRow | null {
  try {
    const { value } = parseJson(jsonOfPython(text));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

/** A string of Python in either quotes, or one of its names for what JSON calls otherwise. */
const PYTHON = /'((?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False|nan|inf)\b/g;
const NAMES: Readonly<Record<string, string>> = {
  None: 'null',
  True: 'true',
  False: 'false',
  nan: 'null',
  inf: 'null',
};

/** The JSON of what Python's `repr` writes for a dict of plain values. */
export function jsonOfPython(text: string): string {
  return text.replace(PYTHON, (found: string, single: string | undefined) => {
    if (single !== undefined) return JSON.stringify(single.replace(/\\'/g, "'"));
    return ownValue(NAMES, found) ?? found;
  });
}

function amount(row: IterationRow, name: string, scale = 1): number | null {
  const value = Object.hasOwn(row, name) ? row[name] : null;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * scale : null;
}

/** `trtllm-bench` with `--report_json`, `--request_json` and `--iteration_log`. */
export const TRTLLM: Importer = { tool: 'trtllm-bench', recognize, group, read };

const REPORT = 'trtllm-bench-report';
const REQUESTS = 'trtllm-bench-requests';
const ITERATIONS = 'trtllm-bench-iteration-log';

function recognize({ head: { keys, text, firstLine } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (['engine', 'world_info', 'performance'].every((key) => keys.includes(key))) return { format: REPORT };
  const start = text.trimStart();
  const requestKeys = ['num_input_tokens', 'first_token_timestamp', 'decode_iteration'];
  if (start.startsWith('[') && requestKeys.every((key) => text.includes(`"${key}"`))) return { format: REQUESTS };
  // The log's lines are Python's, with single quotes; what is rewritten as JSON is taken too.
  const isIteration = /['"]iterLatencyMS['"]\s*:/.test(firstLine) && /['"]iter['"]\s*:/.test(firstLine);
  return start.startsWith('{') && isIteration ? { format: ITERATIONS } : null;
}

/**
 * A report, its requests and its iterations are a run. In a folder with one of each they belong together, whatever their
 * names; else those whose names differ in their kind only.
 */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const folders = Map.groupBy(files, ({ file }) => file.folder);
  return [...folders.values()].flatMap((inFolder) => {
    const isOneRun = [REPORT, REQUESTS, ITERATIONS].every(
      (format) => inFolder.filter(({ recognition }) => recognition.format === format).length <= 1,
    );
    const runs = isOneRun ? [inFolder] : [...Map.groupBy(inFolder, ({ file }) => stem(file.name)).values()];
    return runs.map((members) => {
      const named = members.find(({ recognition }) => recognition.format === REPORT) ?? members[0];
      return { ...ALONE, files: members, name: named?.file.name ?? '' };
    });
  });
}

/** What people call the three files; without it files of one run have one name. */
const KINDS = /report|requests?|iterations?|iter|records?|stats|log|json/g;

function stem(name: string): string {
  return name
    .toLowerCase()
    .replace(KINDS, '')
    .replace(/[^a-z0-9]+/g, '');
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const [reportFile, requestFile, iterationFile] = [REPORT, REQUESTS, ITERATIONS].map((format) =>
    fileOf(group, format),
  );
  if (reportFile == null && requestFile == null) {
    throw new ImportRefusal('these are the iterations of an engine without a result: import its --report_json too');
  }
  const document = reportFile == null ? {} : await readJsonDocument(reportFile, notes, context);
  const requests =
    requestFile == null ? [] : engineRequests(await readJsonDocument(requestFile, notes, context), notes);
  const iterations = iterationFile == null ? [] : await iterationMeasures(iterationFile, notes, context);
  yield runOf(new Fields(document, notes), reportFile != null, requests, iterations, notes);
}

function runOf(
  report: Fields,
  hasReport: boolean,
  requests: readonly EngineRequest[],
  iterations: ImportedRun['stated']['measures'],
  notes: ImportNotes,
): ImportedRun {
  const counted = report.at('request_info').count('num_requests');
  const finished = requests.filter(({ failed }) => !failed).length;
  // Fewer requests than the report counts are a sample, or those of another run: the figures are those of the report.
  const listed = requests.length > 0 && requests.length >= (counted ?? 0);
  const exact = listed ? requestMeasures(report, requests, notes) : [];
  checkConsistency(report, notes);
  const replaced = new Set(exact.map(({ measure }) => measure));
  const reported = reportMeasures(report, counted).filter(({ measure }) => !replaced.has(measure));
  const version = report.at('engine').text('version');
  const total_ms = report.at('performance').amount('total_latency_ms');
  notes.add(
    'measured inside the process of the engine, without HTTP: its latencies are compared only with latencies measured the same way',
  );
  notes.add('the tool keeps no time of day: the run has no start time');
  report.ignore('machine', 'dataset');
  report.noteUnread();
  return reportedRun({
    tool: 'trtllm-bench',
    version,
    format: hasReport ? REPORT : REQUESTS,
    target: { system: 'trtllm', system_version: version },
    key: {
      ...known({
        model: report.at('engine').text('model'),
        streaming: hasReport ? report.has('streaming_metrics') : null,
      }),
      stop: { request_count: listed ? requests.length : counted, benchmark_duration_seconds: null },
    },
    records: requests.length > 0 ? engineRecords(requests) : null,
    stated: {
      window_seconds: listed || total_ms === null ? null : total_ms / 1000,
      // A request that fails ends the whole benchmark without a report.
      requests: listed
        ? { ok: finished, error: requests.length - finished, timeout: 0, cancelled: 0 }
        : { ok: counted },
      measures: [...exact, ...reported, ...iterations],
    },
    notes,
  });
}
