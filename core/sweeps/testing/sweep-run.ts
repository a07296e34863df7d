import type { ObjectiveResult } from '../../run/objectives.ts';
import { SWEEP_FIGURES, type SweepFigure } from '../sweep-figures.ts';
import type { SweepRun } from '../sweep.ts';

/** What a run of a test is about; everything else is the same in all. */
export interface GivenRun {
  readonly load: number;
  readonly figures?: Partial<Record<SweepFigure, number>>;
  readonly verdicts?: readonly ObjectiveResult['verdict'][];
  readonly change?: Partial<SweepRun>;
}

let created = 0;

/** A completed run of a closed loop, of no group. */
export function exampleSweepRun({ load, figures = {}, verdicts = [], change = {} }: GivenRun): SweepRun {
  created += 1;
  const start = new Date(Date.UTC(2026, 0, 1, 0, created)).toISOString();
  return {
    run_id: `run-${created}`,
    start,
    end: start,
    status: 'completed',
    group_id: null,
    load: { mode: 'concurrency', value: load },
    identity: {
      ...{ scenario: 'chat', model: 'm', endpoint_type: 'chat', system: 'vllm', system_version: '0.11.0' },
      ...{ origin: 'http://127.0.0.1:8000', tool: 'llmbench', tool_version: '1', dataset: 'ISL 100, OSL 10' },
    },
    key: 'k',
    requests: { ok: 100, error: 0, timeout: 0, cancelled: 0 },
    figures: Object.fromEntries(
      SWEEP_FIGURES.map((name) => {
        const value = figures[name];
        return [name, value === undefined ? null : { value, low: value, high: value }];
      }),
    ) as SweepRun['figures'],
    slos: verdicts.map((verdict, i) => ({
      ...{ measure: 'time_to_first_token', stat: 'p99', comparison: '<=', limit: 0.5 + i, unit: 'seconds' },
      ...{ value: 0.1, interval: null, verdict, why: null },
    })),
    goodput_limits: [],
    gpus: null,
    ...change,
  };
}
