import { loadText, type LoadStage } from '../../core/run/load.ts';
import { gpuNames } from '../../core/run/provenance.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { RunFile } from '../../core/run/run.ts';

/** What the live metrics of a run must know before it begins. */
export interface LiveRunFacts {
  /** How many pages of servers responded to their newest scrapes; absent: none are read. */
  readonly respondingTargets?: () => number;
  readonly run: RunFile;
  /** The version of llmbench, for `llmbench_build_info`. */
  readonly version: string;
  /** Whether an ok request met the SLOs; absent when there are none, and then goodput is not published at all. */
  readonly isGood?: (record: RequestRecord) => boolean;
  /** Whether its requests are turns of conversations; default false. */
  readonly hasConversations?: boolean;
  /** False: another program sends the requests, and what it measures is absent, not 0; default true. */
  readonly hasClient?: boolean;
}

export const RUN_INFO = {
  name: 'llmbench_run_info',
  help: 'Metadata of the run, always 1; join on run_id.',
  type: 'gauge',
} as const;

export const BUILD_INFO = {
  name: 'llmbench_build_info',
  help: 'Version of llmbench, always 1.',
  type: 'gauge',
} as const;

export const SERIES_DROPPED = {
  name: 'llmbench_series_dropped_total',
  help: 'Series omitted from this page because a limit was reached.',
  type: 'counter',
} as const;

/** The labels of `llmbench_run_info`, the same while the run lasts and ever after. What is unknown is the empty label. */
export function runInfoLabels(run: RunFile): Readonly<Record<string, string>> {
  return {
    run_id: run.run_id,
    scenario: run.scenario,
    start: run.start === null ? '' : wholeSeconds(run.start),
    model: run.comparison_key.model ?? '',
    endpoint_type: run.comparison_key.endpoint_type ?? '',
    system: run.target.system ?? '',
    system_version: run.target.system_version ?? '',
    gpu: gpuNames(run.provenance?.gpus ?? []),
    gpu_driver_version: run.provenance?.gpus[0]?.driver_version ?? '',
    server_image: run.provenance?.server_image ?? '',
    commit: run.provenance?.source_code?.commit ?? '',
    tool: run.tool.name,
    tool_version: run.tool.version ?? '',
    load: run.comparison_key.load === null ? '' : loadText(run.comparison_key.load, 'label'),
    fingerprint: run.fingerprint,
    group_id: run.group_id ?? '',
    step: run.step === null ? '' : String(run.step),
    repeat: run.repeat === null ? '' : String(run.repeat),
  };
}

/** RFC 3339 in UTC without the fraction, as people read it; a text that is no time stays out. */
function wholeSeconds(instant: string): string {
  const time = Date.parse(instant);
  return Number.isNaN(time) ? '' : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The stages of a run's load; empty without stages. */
export const stagesOf = ({ comparison_key: { load } }: RunFile): readonly LoadStage[] => load?.stages ?? [];

/** The families of a run's phases: drawn as regions, and the window of queries. */
export const RUN_PHASE = {
  name: 'llmbench_run_phase',
  help: '1 while the phase is running, else 0.',
  type: 'gauge',
} as const;

export const PHASE_START = {
  name: 'llmbench_run_phase_start_timestamp_seconds',
  help: 'Unix time at which the phase began; 0 before that.',
  type: 'gauge',
} as const;

export const PHASE_END = {
  name: 'llmbench_run_phase_end_timestamp_seconds',
  help: 'Unix time at which the last request of the phase ended; 0 before that.',
  type: 'gauge',
} as const;

/** The families of the stages of a run's load; `load` is the load of the stage, such as `rate=5`. */
export const RUN_STAGE = {
  name: 'llmbench_run_stage',
  help: '1 while requests that are due belong to the stage, else 0.',
  type: 'gauge',
} as const;

export const STAGE_START = {
  name: 'llmbench_run_stage_start_timestamp_seconds',
  help: 'Unix time at which the stage began; 0 before that.',
  type: 'gauge',
} as const;

export const STAGE_END = {
  name: 'llmbench_run_stage_end_timestamp_seconds',
  help: 'Unix time at which the stage ended; 0 before that.',
  type: 'gauge',
} as const;

/** What the measure phase of a run is planned to be; a run has one of them or both. */
export const PLANNED_REQUESTS = {
  name: 'llmbench_run_planned_requests',
  help: 'Requests after which the measure phase ends.',
  type: 'gauge',
} as const;

export const PLANNED_SECONDS = {
  name: 'llmbench_run_planned_seconds',
  help: 'Time after which no requests of the measure phase are sent.',
  type: 'gauge',
} as const;
