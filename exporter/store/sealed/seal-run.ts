import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { costResults, energyResults } from '../../../core/measures/energy-results.ts';
import {
  serverResults,
  type ServerTotals,
  plannedReuseResults,
  prefixCacheResult,
  type PlannedReuse,
} from '../../../core/measures/scalar-results.ts';
import type {
  RunReading,
  StagedSummary,
  StagedSummaryOptions,
  StageSummary,
} from '../../../core/measures/staged-summary.ts';
import type { PhaseSummary } from '../../../core/measures/summary.ts';
import {
  holdsForParts,
  isOfPart,
  objectiveResult,
  worstOfParts,
  worstOfStages,
} from '../../../core/objectives/verdict.ts';
import type { Objective } from '../../../core/run/objectives.ts';
import type { Provenance } from '../../../core/run/provenance.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import type { BreakdownResult, ResultFile, ClientHealth, GpuEnergy, StageResult } from '../../../core/run/result.ts';
import { instantAt, type RunFile, type ComparisonKey, distinguishedModels } from '../../../core/run/run.ts';
import { codeOf } from '../../errors/expected-error.ts';
import { replaceJson, syncPath } from '../../files/durable-file.ts';
import { ownIdentity } from '../../files/process-identity.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';
import { readJsonlRecords } from '../records/records-jsonl.ts';
import { ParquetRecordsWriter } from '../records/records-parquet.ts';
import { claimedName, runPaths, unfinishedDirectory, type RunPaths } from '../run-paths.ts';
import { discardFolder } from '../temporary-file.ts';
import { writeChecksums } from './checksums.ts';
import { storedResult } from './stored-measures.ts';

/** Receives every record of a run again, in any order. It must not throw. */
export interface RecordReader {
  add(record: RequestRecord): void;
}

/**
 * Converts the JSONL of a run's records to Parquet and reads every chunk on the way, for the result and for `reader`.
 * `rows` is their number.
 */
export async function storeRecords(
  paths: RunPaths,
  summary: StagedSummary,
  reader: RecordReader | null = null,
): Promise<{ rows: number; chunks: RunReading }> {
  const chunks = summary.chunkReading();
  const parquet = new ParquetRecordsWriter(paths.parquet);
  let rows = 0;
  for await (const record of readJsonlRecords(paths.jsonl)) {
    chunks.add(record);
    reader?.add(record);
    await parquet.append(record);
    rows += 1;
  }
  await parquet.close();
  await syncPath(paths.records);
  return { rows, chunks };
}

/** Writes result.json, then run.json: with a final status the run is complete and only has to be moved. */
export async function writeOutcome(paths: RunPaths, run: RunFile, result: ResultFile): Promise<void> {
  await replaceJson(paths.result, storedResult(result));
  await replaceJson(paths.run, run);
}

/** Claims an unfinished folder for this process and returns its new path; null if another process was faster. */
export async function claim(runsDirectory: string, name: string, runId: string): Promise<string | null> {
  const unfinished = unfinishedDirectory(runsDirectory);
  const claimed = join(unfinished, claimedName(runId, ownIdentity()));
  try {
    await rename(join(unfinished, name), claimed);
    return claimed;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Seals a claimed folder whose run.json has a final status with the checksums of its files, and moves it to the
 * finished runs. Throws the file system's error; ENOTEMPTY or EEXIST if a run of that name exists, unless it is to be
 * replaced: if the process ends in between, opening the store moves the folder that was sealed.
 */
export async function publish(runsDirectory: string, claimed: string, run: RunFile, replaces = false): Promise<void> {
  const paths = runPaths(claimed, run.shard);
  if (run.process !== null) await replaceJson(paths.run, { ...run, process: null } satisfies RunFile);
  await rm(paths.jsonl, { force: true });
  for (const name of await readdir(claimed, { recursive: true })) {
    // Left by a process that was killed while replacing a file.
    if (name.endsWith('.tmp')) await rm(join(claimed, name));
  }
  // An import may have no records.
  if (existsSync(paths.records)) await syncPath(paths.records);
  await writeChecksums(claimed);
  const path = join(runsDirectory, run.run_id);
  if (replaces) await discardFolder(runsDirectory, path, run.run_id);
  await rename(claimed, path);
  await syncPath(dirname(claimed));
  await syncPath(runsDirectory);
}

/** Planned number of requests in flight; null if the load has none. */
function plannedConcurrency({ load }: ComparisonKey): number | null {
  return load?.mode === 'concurrency' ? load.concurrency : null;
}

/** The options of a run's summary. */
export function summaryOptions({
  comparison_key,
  gates,
  dataset,
}: Pick<RunFile, 'comparison_key' | 'gates' | 'dataset'>): StagedSummaryOptions {
  const recordedLoad = dataset?.recorded_load;
  return {
    ...(recordedLoad && { recordedLoad }),
    plannedConcurrency: plannedConcurrency(comparison_key),
    goodput: gates?.goodput ?? [],
    stages: comparison_key.load?.stages ?? [],
    models: distinguishedModels(comparison_key.model_mix),
  };
}

/** The client facts if the measuring process has ended. */
export const UNKNOWN_HEALTH: ClientHealth = {
  verdict: 'unknown',
  why: null,
  event_loop_delay_p99_seconds: null,
  event_loop_delay_max_seconds: null,
  cpu_seconds: null,
};

/** The content of result.json, and its notes, one line each. */
export async function resultOf(
  run: RunFile & { readonly status: ResultFile['status'] },
  summary: StagedSummary,
  reading: RunReading | null,
  client: ClientHealth,
  servers: ResultFile['servers'] = null,
  serverTotals: ServerTotals = { cachedInputRatio: null },
  reuse: PlannedReuse | null = null,
): Promise<{ result: ResultFile; notes: readonly string[] }> {
  const { whole, stages: staged, breakdown: parts } = await summary.summarizeInSteps(reading, nextTurn);
  const { window, requests, errors, notes } = whole;
  const energy = servers?.gpu_energy ?? null;
  const price = run.provenance?.gpu_price ?? null;
  const measures = [
    ...whole.measures,
    ...serverResults(serverTotals),
    ...plannedReuseResults(reuse),
    ...energyResults(energy, whole.measures),
    ...costResults(price, run.provenance?.gpu_count ?? servingGpus(energy, run.provenance), whole.measures),
  ];
  const objectives = run.gates?.slos ?? [];
  // A record does not name which of several servers it was sent to.
  const { origin, origins } = run.target;
  const network = origin === null || origins?.length !== 1 ? null : summary.networkOf(new URL(origin).host);
  const stages = staged.map((stage, i) => stageResult(run, stage, i + 1));
  const breakdown = parts.map((part) => (part.by === 'model' ? withObjectives(part, objectives) : part));
  const result: ResultFile = {
    schema_version: SCHEMA_VERSIONS.result,
    run_id: run.run_id,
    status: run.status,
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    window: wallWindow(run, window),
    requests,
    ...(run.comparison_key.cool_down === true ? { cool_down: summary.coolDown } : {}),
    errors,
    client,
    servers,
    measures,
    slos: objectives.map((objective) => {
      const isWhole = stages.length === 0 || isOfPart(objective);
      const inTotal = isWhole ? objectiveResult(objective, measures, breakdown) : worstOfStages(stages, objective);
      return worstOfParts(inTotal, breakdown);
    }),
    stages,
    ...(whole.conversations === null ? {} : { conversations: whole.conversations }),
    ...(network === null ? {} : { network }),
    ...(whole.slices === null ? {} : { slices: whole.slices }),
    ...(reuse === null ? {} : { prefix_cache: prefixCacheResult(reuse, measures, serverTotals.cacheSigns ?? []) }),
    ...(serverTotals.speculation == null ? {} : { speculation: serverTotals.speculation }),
    ...(summary.loadFit === null ? {} : { load_fit: summary.loadFit }),
    ...(breakdown.length === 0 ? {} : { breakdown }),
  };
  return { result, notes };
}

/** Those whose energy was read, else those that were found when the run began; null: none. */
function servingGpus(energy: GpuEnergy | null, provenance: Provenance | null): number | null {
  const found = (provenance?.gpus ?? []).reduce((sum, { count }) => sum + count, 0);
  return energy?.gpus ?? (found > 0 ? found : null);
}

function withObjectives(part: BreakdownResult, objectives: readonly Objective[]): BreakdownResult {
  const slos = objectives.filter(holdsForParts).map((objective) => objectiveResult(objective, part.measures));
  return slos.length === 0 ? part : { ...part, slos };
}

function stageResult(run: RunFile, { period, summary }: StageSummary, stage: number): StageResult {
  const { window, requests, errors, measures } = summary;
  const load = run.comparison_key.load?.stages?.[stage - 1];
  if (load === undefined) throw new RangeError(`run ${run.run_id} has no stage ${stage}`);
  return {
    stage,
    load,
    start: period && instantAt(run.start, period.start_ns),
    end: period && instantAt(run.start, period.end_ns),
    window: wallWindow(run, window),
    requests,
    errors,
    measures,
    slos: (run.gates?.slos ?? []).filter((slo) => !isOfPart(slo)).map((slo) => objectiveResult(slo, measures)),
  };
}

function wallWindow({ start }: Pick<RunFile, 'start'>, window: PhaseSummary['window']): ResultFile['window'] {
  return {
    start: window && instantAt(start, window.start_ns),
    end: window && instantAt(start, window.end_ns),
    seconds: window && (window.end_ns - window.start_ns) * 1e-9,
  };
}
