import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PhaseSummary } from '../../../core/measures/summary.ts';
import type {
  RunReading,
  StagedSummary,
  StagedSummaryOptions,
  StageSummary,
} from '../../../core/measures/staged-summary.ts';
import { costResults, energyResults } from '../../../core/measures/energy-results.ts';
import { serverResults, type ServerTotals } from '../../../core/measures/scalar-results.ts';
import { objectiveResult, worstOfStages } from '../../../core/objectives/verdict.ts';
import { instantAt, type ComparisonKey, type RunFile } from '../../../core/run/run.ts';
import type { Provenance } from '../../../core/run/provenance.ts';
import type { ClientHealth, GpuEnergy, ResultFile, StageResult } from '../../../core/run/result.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';

/** Planned number of requests in flight; null if the load has none. */
function plannedConcurrency({ load }: ComparisonKey): number | null {
  return load?.mode === 'concurrency' ? load.concurrency : null;
}

/** The options of a run's summary. */
export function summaryOptions({
  comparison_key,
  gates,
}: Pick<RunFile, 'comparison_key' | 'gates'>): StagedSummaryOptions {
  return {
    plannedConcurrency: plannedConcurrency(comparison_key),
    goodput: gates?.goodput ?? [],
    stages: comparison_key.load?.stages ?? [],
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
): Promise<{ result: ResultFile; notes: readonly string[] }> {
  const { whole, stages: staged } = await summary.summarizeInSteps(reading, nextTurn);
  const { window, requests, errors, notes } = whole;
  const energy = servers?.gpu_energy ?? null;
  const price = run.provenance?.gpu_price ?? null;
  const measures = [
    ...whole.measures,
    ...serverResults(serverTotals),
    ...energyResults(energy, whole.measures),
    ...costResults(price, price?.gpus ?? servingGpus(energy, run.provenance), whole.measures),
  ];
  const objectives = run.gates?.slos ?? [];
  const stages = staged.map((stage, i) => stageResult(run, stage, i + 1));
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
    slos: objectives.map((objective, i) =>
      stages.length === 0 ? objectiveResult(objective, measures) : worstOfStages(stages, objective, i),
    ),
    stages,
  };
  return { result, notes };
}

/** Those whose energy was read, else those that were found when the run began; null: none. */
function servingGpus(energy: GpuEnergy | null, provenance: Provenance | null): number | null {
  const found = (provenance?.gpus ?? []).reduce((sum, { count }) => sum + count, 0);
  return energy?.gpus ?? (found > 0 ? found : null);
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
    slos: (run.gates?.slos ?? []).map((objective) => objectiveResult(objective, measures)),
  };
}

function wallWindow({ start }: Pick<RunFile, 'start'>, window: PhaseSummary['window']): ResultFile['window'] {
  return {
    start: window && instantAt(start, window.start_ns),
    end: window && instantAt(start, window.end_ns),
    seconds: window && (window.end_ns - window.start_ns) * 1e-9,
  };
}
