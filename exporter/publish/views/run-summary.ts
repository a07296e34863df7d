import type { RunZero } from '../../../core/api/run-data.ts';
import type { KeyDistribution, KeyNumbers, StageRegion, RunSummary, RunProgress } from '../../../core/api/runs.ts';
import { stageLoadText } from '../../../core/run/load.ts';
import { worstVerdict } from '../../../core/run/objectives.ts';
import type { DistributionResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import { datasetText } from '../../../core/run/run-dataset.ts';
import { orderOf } from '../../../core/run/run-id.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { runInfoLabels } from '../run-info.ts';

/** What a result says of its run at a glance, with the window that the numbers are of. */
export interface ResultSummary {
  readonly window: Pick<ResultFile['window'], 'start' | 'end'>;
  readonly stages: readonly StageRegion[];
  readonly target_changes: RunSummary['target_changes'];
  readonly numbers: KeyNumbers;
}

export function resultSummary(result: ResultFile): ResultSummary {
  const { requests, client, slos, window, servers } = result;
  const scalar = (measure: string): number | null => scalarOf(result, measure)?.value ?? null;
  return {
    window: { start: window.start, end: window.end },
    stages: stageRegions(result),
    target_changes: servers?.target_changes ?? [],
    numbers: {
      requests,
      time_to_first_token_seconds: keyDistribution(result, 'time_to_first_token'),
      inter_token_latency_seconds: keyDistribution(result, 'inter_token_latency'),
      request_latency_seconds: keyDistribution(result, 'request_latency'),
      request_throughput: scalar('request_throughput'),
      output_token_throughput: scalar('output_token_throughput'),
      document_throughput: scalar('document_throughput'),
      error_ratio: scalar('error_ratio'),
      goodput: scalar('goodput'),
      good_request_ratio: scalar('good_request_ratio'),
      client_verdict: client.verdict,
      slos: worstVerdict(slos),
    },
  };
}

/** What run.json says, without numbers; `progress` is null once the run has ended. */
export function runSummary(run: RunFile, progress: RunProgress | null): RunSummary {
  const { start, end, target, tool, phases } = run;
  const measure = phases.find(({ phase }) => phase === 'measure');
  const { load } = runInfoLabels(run);
  return {
    ...orderOf(run),
    status: run.status,
    scenario: run.scenario,
    model: run.comparison_key.model,
    endpoint_type: run.comparison_key.endpoint_type,
    load: load === undefined || load === '' ? null : load,
    dataset: run.dataset && datasetText(run.dataset),
    system: target.system,
    system_version: target.system_version,
    origin: target.origin,
    tool: tool.name,
    tool_version: tool.version,
    fingerprint: run.fingerprint,
    group_id: run.group_id,
    step: run.step,
    repeat: run.repeat,
    tags: run.tags,
    recovered: run.recovered,
    failure: run.failure,
    end,
    duration_seconds: start === null || end === null ? null : (Date.parse(end) - Date.parse(start)) / 1000,
    measure_start: measure?.start ?? null,
    measure_end: measure?.end ?? null,
    phases,
    stages: [],
    target_changes: [],
    progress,
    numbers: null,
    verdict: null,
  };
}

/** The summary with what its result says; null: it cannot be read. */
export function withNumbers(summary: RunSummary, result: ResultSummary | null): RunSummary {
  if (result === null) return summary;
  const { window, stages, target_changes, numbers } = result;
  return {
    ...summary,
    measure_start: window.start ?? summary.measure_start,
    measure_end: window.end ?? summary.measure_end,
    stages,
    target_changes,
    numbers,
  };
}

/** The stages of a load that began, at their times. */
export function stageRegions({ stages }: Pick<ResultFile, 'stages'>): StageRegion[] {
  return stages.flatMap(({ stage, load, start, end }) =>
    start === null || end === null ? [] : [{ stage, load: stageLoadText(load), start, end }],
  );
}

function keyDistribution(result: ResultFile, measure: string): KeyDistribution | null {
  const found = result.measures.find(
    (m): m is DistributionResult =>
      m.kind === 'distribution' &&
      m.measure === measure &&
      m.origin === 'client' &&
      m.population === 'ok' &&
      m.clock === 'sent',
  );
  if (found === undefined) return null;
  const { definition, n, mean, percentiles } = found;
  const { p50, p90, p99 } = percentiles;
  return { definition, n, mean, p50: p50.value, p90: p90.value, p99: p99.value };
}

function scalarOf({ measures }: ResultFile, measure: string): ScalarResult | undefined {
  return measures.find((m): m is ScalarResult => m.kind === 'scalar' && m.measure === measure && m.origin === 'client');
}

export function runZero({ start, phases }: Pick<RunFile, 'start' | 'phases'>): RunZero {
  const measure = phases.find(({ phase }) => phase === 'measure')?.start ?? null;
  const known = start !== null && measure !== null;
  return { start, measure_seconds: known ? (Date.parse(measure) - Date.parse(start)) / 1000 : null };
}
