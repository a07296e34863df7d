import type { RunFilter } from '../../../core/api/runs.ts';
import { VERDICTS } from '../../../core/api/verdict.ts';
import { choices, moment, runIds, text, texts } from './query.ts';

const STATUSES = ['running', 'completed', 'aborted', 'failed'] as const;

/** The filter parameters of all lists of runs; their values form a `RunFilter`. */
export const RUN_PARAMETERS = {
  scenario: texts(),
  model: texts(),
  system: texts(),
  tool: texts(),
  status: choices(STATUSES),
  verdict: choices(VERDICTS),
  tag: texts(),
  group: texts(),
  run_id: runIds(),
  q: text(200),
  from: moment(),
  to: moment(),
} as const satisfies Record<keyof RunFilter, unknown>;
