import { stageLoadText } from '../../core/run/load.ts';
import type { Labels, SampleInput } from '../../core/exposition/index.ts';
import type { RunFile } from '../../core/run/run.ts';
import { ERROR_REASONS, OUTCOMES, PHASES } from '../../core/run/record.ts';
import type { LiveFamily } from './family.ts';
import type { LiveRunFacts } from './run-info.ts';
import { BUILD_INFO, RUN_INFO, runInfoLabels, SERIES_DROPPED, stagesOf } from './run-info.ts';
import type { LiveTargets } from './live-targets.ts';
import { RUN_TARGET_INFO } from './target-info.ts';
import {
  PHASE_END,
  PHASE_START,
  PLANNED_REQUESTS,
  PLANNED_SECONDS,
  RUN_PHASE,
  RUN_STAGE,
  STAGE_END,
  STAGE_START,
} from './run-phase.ts';
import type { Period, PhaseCounts, RunTally } from './run-tally.ts';

const NOT_BEGUN: Period = { active: false, start_seconds: 0, end_seconds: 0 };

/**
 * The families of a run that is under way, in the order of the metric contract. `llmbench_run_info` comes from shard 0
 * alone, so that a run has it once. The phase `cooldown` is there only when the run has one, and goodput only when there
 * are SLOs: without them 0 would be a lie.
 */
export function liveFamilies(
  facts: LiveRunFacts,
  labels: Labels,
  tally: RunTally,
  targets: LiveTargets,
  histograms: readonly LiveFamily[],
): readonly LiveFamily[] {
  const { run, version, isGood, hasClient = true } = facts;
  const one = (value: number, own: Labels = labels): readonly SampleInput[] => [{ labels: own, value }];
  const phases = PHASES.filter((phase) => phase !== 'cooldown' || run.comparison_key.cool_down === true);
  const perPhase = (read: (phase: PhaseCounts) => number) => () =>
    phases.map((phase) => ({ labels: { ...labels, phase }, value: read(tally.phases[phase]) }));
  const stages = stagesOf(run).map((stage, i) => ({
    labels: { ...labels, stage: String(i + 1), load: stageLoadText(stage) },
    i,
  }));
  const perStage = (read: (stage: Period) => number) => () =>
    stages.map(({ labels: own, i }) => ({ labels: own, value: read(tally.stages[i] ?? NOT_BEGUN) }));
  const perPhaseAnd = <K extends string>(
    label: string,
    keys: readonly K[],
    read: (phase: PhaseCounts, key: K) => number,
  ) => {
    const series = phases.flatMap((phase) =>
      keys.map((key) => ({ phase, key, labels: { ...labels, phase, [label]: key } })),
    );
    return () => series.map(({ phase, key, labels: own }) => ({ labels: own, value: read(tally.phases[phase], key) }));
  };
  const gauge = (name: string, help: string, samples: LiveFamily['samples']): LiveFamily => ({
    name,
    help,
    type: 'gauge',
    samples,
  });
  const counter = (name: string, help: string, samples: LiveFamily['samples']): LiveFamily => ({
    name,
    help,
    type: 'counter',
    samples,
  });

  const ofRun: readonly LiveFamily[] = [
    { ...gauge(BUILD_INFO.name, BUILD_INFO.help, () => one(1, { version })), ofProcess: true },
    ...(run.shard === '0' ? [gauge(RUN_INFO.name, RUN_INFO.help, () => one(1, runInfoLabels(run)))] : []),
    ...(run.shard === '0' ? plannedFamilies(run, gauge) : []),
    gauge(RUN_TARGET_INFO.name, RUN_TARGET_INFO.help, () => targets.samples),
    gauge(
      RUN_PHASE.name,
      RUN_PHASE.help,
      perPhase((phase) => Number(phase.active)),
    ),
    gauge(
      PHASE_START.name,
      PHASE_START.help,
      perPhase((phase) => phase.start_seconds),
    ),
    gauge(
      PHASE_END.name,
      PHASE_END.help,
      perPhase((phase) => phase.end_seconds),
    ),
  ];
  const dropped: LiveFamily = {
    ...counter(SERIES_DROPPED.name, SERIES_DROPPED.help, () => one(targets.dropped, {})),
    ofProcess: true,
  };
  if (!hasClient) return [...ofRun, dropped];
  return [
    ...ofRun,
    ...(stages.length === 0
      ? []
      : [
          gauge(
            RUN_STAGE.name,
            RUN_STAGE.help,
            perStage(({ active }) => Number(active)),
          ),
          gauge(
            STAGE_START.name,
            STAGE_START.help,
            perStage((stage) => stage.start_seconds),
          ),
          gauge(
            STAGE_END.name,
            STAGE_END.help,
            perStage((stage) => stage.end_seconds),
          ),
        ]),
    counter(
      'llmbench_requests_total',
      'Requests ended, by outcome.',
      perPhaseAnd('outcome', OUTCOMES, (phase, outcome) => phase.outcomes[outcome]),
    ),
    counter(
      'llmbench_request_errors_total',
      'Requests that ended with an outcome other than ok, by the first matching reason.',
      perPhaseAnd('reason', ERROR_REASONS, (phase, reason) => phase.reasons[reason]),
    ),
    ...(isGood === undefined
      ? []
      : [
          counter(
            'llmbench_good_requests_total',
            'Requests of the measure phase that ended ok and within every SLO.',
            () => one(tally.goodRequests),
          ),
        ]),
    counter(
      'llmbench_input_tokens_total',
      'Prompt tokens of ended requests, as counted by the server.',
      perPhase((phase) => phase.inputTokens),
    ),
    counter(
      'llmbench_output_tokens_total',
      'Output tokens of ended requests, as counted by the server, including reasoning.',
      perPhase((phase) => phase.outputTokens),
    ),
    counter(
      'llmbench_chunks_total',
      'Chunks with content received.',
      perPhase((phase) => phase.chunks),
    ),
    gauge('llmbench_requests_in_flight', 'Requests sent whose response is not complete.', () => one(tally.inFlight)),
    ...histograms,
    gauge('llmbench_client_saturated', '1 if this client may limit the measurement (saturated), else 0.', () =>
      one(Number(tally.clientSaturated)),
    ),
    dropped,
  ];
}

/** Of the whole run, whatever its shards: what a share of it is measured against. */
function plannedFamilies(
  { run_id, comparison_key: { stop } }: RunFile,
  gauge: (name: string, help: string, samples: LiveFamily['samples']) => LiveFamily,
): LiveFamily[] {
  return (
    [
      [PLANNED_REQUESTS, stop.request_count],
      [PLANNED_SECONDS, stop.benchmark_duration_seconds],
    ] as const
  ).flatMap(([{ name, help }, value]) =>
    value === null ? [] : [gauge(name, help, () => [{ labels: { run_id }, value }])],
  );
}
