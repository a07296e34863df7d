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
