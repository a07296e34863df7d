import type { RunFilter } from '../../publish/views/run-filter.ts';
import { choices, moment, runIds, text, texts } from './query.ts';

const STATUSES = ['running', 'completed', 'aborted', 'failed'] as const;

/** The parameters by which every list of runs can be narrowed; their values are a `RunFilter`. */
export const RUN_PARAMETERS = {
  scenario: texts(),
  model: texts(),
  system: texts(),
  tool: texts(),
  status: choices(STATUSES),
  tag: texts(),
  group: texts(),
  run_id: runIds(),
  q: text(200),
  from: moment(),
  to: moment(),
} as const satisfies Record<keyof RunFilter, unknown>;
