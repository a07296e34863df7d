import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ENERGY_MEASURES, energyResults } from '../../core/measures/energy-results.ts';
import { isForeign } from '../../core/measures/foreign-definitions.ts';
import { publishedName } from '../../core/measures/names.ts';
import { quotient, scalarResult, SCALAR_MEASURES } from '../../core/measures/scalar-measures.ts';
import type { SummarizedRun } from '../../core/measures/staged-summary.ts';
import type { PhaseSummary } from '../../core/measures/summary.ts';
import { instantAt, type ComparisonKey, type RunFile, KEYED_MEASURES } from '../../core/run/run.ts';
import type { MeasureResult, ResultFile } from '../../core/run/result.ts';
import { createRunId } from '../../core/run/run-id.ts';
import { replaceJson } from '../files/durable-file.ts';
import { FileShelf } from '../store/file-shelf.ts';
import { ownIdentity } from '../files/process-identity.ts';
import { momentaryName, unfinishedDirectory } from '../store/run-paths.ts';
import { addRun } from '../store/changes/add-run.ts';
import type { AddedFile, ReadBack } from '../store/changes/add-run.ts';
import { SCHEMA_VERSIONS } from '../store/migrations/migrate.ts';
import { UNKNOWN_HEALTH } from '../store/sealed/seal-run.ts';
import type { RunStore } from '../store/run-store.ts';
import { bySource, measuresBesideSample, mergedMeasures, ImportSummary } from './import-measures.ts';
import { printable } from './import-notes.ts';
import type { MeasuredRequests, ServersOfRun, FileGroup, ImportedRun, ImportSource, KnownKey } from './importer.ts';
import { noteDisorder, plausibleMeasures } from './stated/check-statistics.ts';

export interface StoredAs {
  readonly tags: readonly string[];
  /** The run that it replaces; absent or null: it is a new one. */
  readonly replaced?: RunFile | null;
  /** The unfinished run of this process that it completes; absent or null: it gets a name of its own. */
  readonly runId?: string | null;
}

/** Which content an imported run comes from, and when it was imported. */
export type ContentSource = Pick<ImportSource, 'sha256' | 'files' | 'imported_at' | 'position'>;

/** The SHA-256 of one of several runs of the same content; of the content itself when it is the only one. */
export function partHash(sha256: string, part: string | null): string {
  return part === null ? sha256 : createHash('sha256').update(`${sha256}\n${part}`).digest('hex');
}

/**
 * The name of an imported run: its start and ten characters of its content's hash, so that the same content always has
 * the same name. Without a start time it begins with `undated`.
 */
export function importedRunId(start: string | null, sha256: string): string {
  const suffix = BigInt(`0x${sha256}`).toString(36).slice(-10).padStart(10, '0');
  return start === null ? `undated-${suffix}` : createRunId(new Date(start), suffix);
}

/**
 * Adds an imported run to the store, wholly or not at all, reading its records on the way. Returns its name. A run that it
 * replaces keeps its name and what people call it. Throws what `addRun` and the records throw.
 */
export async function storeImport(
  store: RunStore,
  imported: ImportedRun,
  group: FileGroup,
  source: ContentSource,
  { tags, replaced = null, runId = null }: StoredAs,
): Promise<string> {
  const kept = replaced === null ? { tags, ...(runId === null ? {} : { run_id: runId }) } : keptOf(replaced);
  const planned = { ...runFile(imported, group, source), ...kept };
  // Created when it is needed, within `addRun`: then its folder exists.
  const shelf = new FileShelf(join(unfinishedDirectory(store.directory), momentaryName(planned.run_id, ownIdentity())));
  const summary = new ImportSummary(imported, shelf);
  let run = planned;
  // These are called once the records have been read: only then their number and their time are known.
  const isSample = (): boolean => imported.records !== null && isSampleOf(summary.measured.requests.ok, imported);
  let found: ServersOfRun | null | undefined;
  const servers = (): ServersOfRun | null =>
    (found ??= imported.servers?.forRun(isSample() ? NOTHING_MEASURED : summary.measured) ?? null);
  const result = async (readBack: ReadBack): Promise<ResultFile> => {
    const summed = imported.records === null ? null : await summary.summarize(readBack);
    const sums = { summed: summed?.whole ?? null, breakdown: summed?.breakdown ?? [], isSample: isSample() };
    const file = resultFile(imported, planned, summary, sums, servers()?.result ?? null);
    run = completedRun(planned, imported, isSample() ? null : summary, file);
    return file;
  };
  try {
    await addRun(store, {
      run: planned,
      records: imported.records === null ? null : summary.checked(imported.records),
      result,
      completed: () => run,
      files: () => serverFiles(servers(), planned.run_id),
      replaces: replaced !== null,
      completes: runId !== null,
    });
  } finally {
    await shelf.close();
  }
  return planned.run_id;
}

const keptOf = ({ run_id, scenario, tags }: RunFile): Pick<RunFile, 'run_id' | 'scenario' | 'tags'> => ({
  run_id,
  scenario,
  tags,
});

function runFile(imported: ImportedRun, group: FileGroup, source: ContentSource): RunFile {
  const { group_id, step, repeat } = imported.placement ?? group;
  return {
    schema_version: SCHEMA_VERSIONS.run,
    run_id: importedRunId(imported.start, source.sha256),
    status: imported.status,
    recovered: false,
    scenario: printable(imported.scenario ?? group.name),
    comparison_key: comparisonKey(imported.key),
    fingerprint: '',
    gates: null,
    group_id,
    step,
    repeat,
    shard: '0',
    target: { ...imported.target, origins: imported.target.origin === null ? null : [imported.target.origin] },
    client: null,
    dataset: null,
    command_line: null,
    provenance: null,
    tool: { name: imported.tool.name, version: imported.tool.version && printable(imported.tool.version) },
    source: {
      ...source,
      format: imported.format.name,
      format_version: imported.format.schema_version,
      unknown: unknownMembers(imported.key),
      notes: [],
    },
    tags: [],
    start: imported.start,
    end: null,
    phases: [],
    process: null,
    failure: imported.failure,
  };
}

/** Of a run of which nothing is known. */
export const UNKNOWN_KEY: ComparisonKey = {
  endpoint_type: null,
  model: null,
  load: null,
  cancellation: null,
  stop: { request_count: null, benchmark_duration_seconds: null },
  warmup: null,
  dataset_plan_sha256: null,
  sampling: {},
  streaming: null,
  measure_definitions: {},
};

function comparisonKey(key: KnownKey): ComparisonKey {
  // Names of a file become labels and lines of tables.
  const known = Object.entries(key).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? printable(value) : value] as const],
  );
  return { ...UNKNOWN_KEY, ...(Object.fromEntries(known) as Partial<ComparisonKey>) };
}

function unknownMembers(key: KnownKey): string[] {
  const names = Object.keys(UNKNOWN_KEY).filter((name) => name !== 'measure_definitions');
  return names.filter((name) => key[name as keyof KnownKey] === undefined);
}

const KEYED: ReadonlySet<string> = new Set(KEYED_MEASURES);

/** The run with what its records give; `summary` is null when they are a sample. */
function completedRun(
  planned: RunFile,
  imported: ImportedRun,
  summary: ImportSummary | null,
  result: ResultFile,
): RunFile {
  const { window } = result;
  const stated = window.start === null ? [] : [{ phase: 'measure' as const, start: window.start, end: window.end }];
  // The GPUs may have been watched, or the failed requests counted, in one of two equal runs: that does not make them
  // different ones.
  const isAside = (measure: string): boolean =>
    Object.hasOwn(ENERGY_MEASURES, measure) ||
    (imported.records === null && measure === SCALAR_MEASURES.error_ratio.measure);
  const definitions = result.measures
    .filter((each) => !isAside(each.measure) && (KEYED.has(publishedName(each)) || isForeign(each)))
    .map((measure) => [publishedName(measure), measure.definition] as const);
  return {
    ...planned,
    comparison_key: { ...planned.comparison_key, measure_definitions: Object.fromEntries(definitions) },
    phases: summary !== null && summary.phases.length > 0 ? summary.phases : stated,
    end: summary?.end ?? window.end,
    source: planned.source && { ...planned.source, notes: imported.notes.lines },
  };
}

function resultFile(
  imported: ImportedRun,
  run: RunFile,
  summary: ImportSummary,
  {
    summed,
    breakdown,
    isSample,
  }: {
    readonly summed: PhaseSummary | null;
    readonly breakdown: SummarizedRun['breakdown'];
    readonly isSample: boolean;
  },
  servers: ResultFile['servers'],
): ResultFile {
  const { notes } = imported;
  const measured = plausibleMeasures(imported.stated.measures, imported.stated.requests.ok, notes);
  const stated = { ...imported.stated, measures: [...measured, ...errorRatio(imported.stated)] };
  // Records of the whole run are compared with these figures, which finds more.
  if (summed === null || isSample) noteDisorder(measured, notes);
  for (const note of summed?.notes ?? []) notes.add(note);
  const { ok } = stated.requests;
  if (summed !== null && ok !== null && ok < summed.requests.ok) {
    notes.disagreement(
      `the tool counted ${ok} ok requests, the records hold ${summed.requests.ok}: the records are used`,
    );
  }
  const fromRecords = summed !== null && !isSample;
  const lacksFailed = fromRecords && lacksFailedRequests(stated.requests, summed.requests, notes);
  const computed =
    summed === null
      ? []
      : bySource(summed.measures, sourcesOf(summary)).filter(({ population }) => !lacksFailed || population === 'ok');
  const measures = isSample
    ? measuresBesideSample(computed, stated, summed?.requests.ok ?? 0, notes)
    : mergedMeasures(computed, stated, notes);
  const populations = breakdown.map((each) => ({
    ...each,
    measures: bySource(each.measures, sourcesOf(summary)).filter(
      ({ population }) => !lacksFailed || population === 'ok',
    ),
  }));
  return {
    schema_version: SCHEMA_VERSIONS.result,
    run_id: run.run_id,
    status: imported.status,
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    window: windowOf(imported, isSample ? null : summed),
    requests: fromRecords && !lacksFailed ? summed.requests : statedRequests(imported, run.source?.files ?? []),
    errors: fromRecords && !lacksFailed ? summed.errors : stated.errors,
    client: UNKNOWN_HEALTH,
    servers,
    measures: [...measures, ...energyResults(servers?.gpu_energy ?? null, measures)],
    slos: [],
    stages: [],
    ...(isSample || summed?.conversations == null ? {} : { conversations: summed.conversations }),
    ...(isSample || breakdown.length === 0 ? {} : { breakdown: populations }),
  };
}

/** The share of failed requests, where the tool counts both and does not state it. */
function errorRatio({ requests, measures }: ImportedRun['stated']): MeasureResult[] {
  const { error_ratio } = SCALAR_MEASURES;
  const failed = failedOf(requests);
  if (requests.ok === null || failed === null || measures.some(({ measure }) => measure === error_ratio.measure))
    return [];
  return [scalarResult(error_ratio, quotient(failed, requests.ok + failed), { population: 'all' })];
}

/** Without a count of its own a timeout is an error of the tool's. */
function failedOf({ error, timeout }: ResultFile['requests']): number | null {
  return error === null ? null : error + (timeout ?? 0);
}

/** Whether failed requests that the tool counted have no record: then records give no figure over all requests. */
function lacksFailedRequests(
  stated: ResultFile['requests'],
  recorded: ResultFile['requests'],
  notes: ImportedRun['notes'],
): boolean {
  const [counted, held] = [failedOf(stated), failedOf(recorded) ?? 0];
  if (stated.ok === null || counted === null || counted <= held) return false;
  notes.add(
    `the tool counted ${counted} failed requests, the records hold ${held}: figures over all requests are left out`,
  );
  return true;
}

function sourcesOf(summary: ImportSummary): Parameters<typeof bySource>[1] {
  return { input: summary.tokenSource('input'), output: summary.tokenSource('output') };
}

/** Whether the records are fewer than the ok requests that the tool counted: then they are a sample of the run. */
function isSampleOf(recorded: number, { stated }: ImportedRun): boolean {
  return (stated.requests.ok ?? recorded) > recorded;
}

/** For servers of a run without records of all requests: the tool's own window is used, and no request is compared. */
export const NOTHING_MEASURED: MeasuredRequests = {
  window: null,
  requests: { ok: 0, error: 0, timeout: 0, cancelled: 0, errors: {} },
  warmupAfter: () => 0,
};

/**
 * Without records of the whole run it is the tool's window; its place in time is known only where the tool states it.
 */
function windowOf(imported: ImportedRun, summed: PhaseSummary | null): ResultFile['window'] {
  const { window_seconds: seconds, window_start_ns: stated_ns } = imported.stated;
  if (summed?.window) {
    const { start_ns, end_ns } = summed.window;
    return {
      start: instantAt(imported.start, start_ns),
      end: instantAt(imported.start, end_ns),
      seconds: (end_ns - start_ns) / 1e9,
    };
  }
  // The start of a run with records is that of its first record, which in a sample is not the first request.
  const start_ns = stated_ns ?? (imported.records === null ? 0 : null);
  if (start_ns === null) return { start: null, end: null, seconds };
  const end = seconds === null ? null : instantAt(imported.start, start_ns + seconds * 1e9);
  return { start: instantAt(imported.start, start_ns), end, seconds };
}

function statedRequests({ stated, notes }: ImportedRun, files: readonly string[]): ResultFile['requests'] {
  const { requests } = stated;
  const silent = Object.entries(requests).flatMap(([outcome, count]) => (count === null ? [outcome] : []));
  if (silent.length > 0 && files.length > 0)
    notes.add(`the file does not report how many requests were: ${silent.join(', ')}`);
  return requests;
}

function serverFiles(servers: ServersOfRun | null, runId: string): AddedFile[] {
  if (servers === null) return [];
  const { file, writeSamples } = servers;
  return [
    { name: 'servers.json', write: (path) => replaceJson(path, file(runId)) },
    ...(writeSamples === null ? [] : [{ name: 'servers.parquet', write: writeSamples }]),
  ];
}
