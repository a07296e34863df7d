import { loadOfLabel } from '../../../core/run/load.ts';
import { sweepsOf, type SweepRun } from '../../../core/sweeps/sweep.ts';
import {
  exact,
  figuresOf,
  SWEEP_LATENCIES,
  SWEEP_PERCENTILES,
  SWEEP_SCALARS,
  type SweepRunFigures,
} from '../../../core/sweeps/sweep-figures.ts';
import { sweepSummary } from '../../../core/sweeps/sweep-shape.ts';
import type { RunSummary } from '../../../core/api/runs.ts';
import type { StoredSweep, SweepsResponse } from '../../../core/api/sweeps.ts';
import type { PrometheusSeries, PrometheusTarget } from '../prometheus/query-prometheus.ts';
import { runQueries, runsOfSeries } from '../runs/prometheus-runs.ts';

const SCALAR_UNITS = ['requests_per_second', 'tokens_per_second', 'ratio'] as const;
const OUTCOME = 'outcome';
const FIGURE = 'figure_';

/** Queries for the sweeps among the runs of the `rangeSeconds` before an instant. */
export function sweepQueries(rangeSeconds: number): PrometheusTarget[] {
  const range = `[${Math.max(1, Math.ceil(rangeSeconds))}s]`;
  const result = (unit: string, measures: readonly string[], stat: string): PrometheusTarget => ({
    refId: `${FIGURE}${unit}`,
    expr: `max by (run_id, measure, stat) (last_over_time(llmbench_result_${unit}{measure=~"${measures.join('|')}",stat=~"${stat}"}${range}))`,
    instant: true,
  });
  return [
    ...runQueries(rangeSeconds),
    {
      refId: OUTCOME,
      expr: `max by (run_id, status, dataset) (last_over_time(llmbench_result_info${range}))`,
      instant: true,
    },
    result('seconds', SWEEP_LATENCIES, SWEEP_PERCENTILES.join('|')),
    ...SCALAR_UNITS.map((unit) => result(unit, SWEEP_SCALARS, 'value')),
  ];
}

/**
 * The sweeps of finished runs in Prometheus, the newest first. Options without a label, such as those of sampling, are not
 * known, nor are objectives and GPUs. A sweep has the id of its oldest run.
 */
export function sweepsOfSeries(series: readonly PrometheusSeries[], nowMs: number): StoredSweep[] {
  const outcomes = new Map(
    series.filter(({ refId }) => refId === OUTCOME).map(({ labels }) => [labels['run_id'], labels] as const)
  );
  const figures = figuresOfSeries(series);
  const runs = runsOfSeries(series, nowMs).flatMap((run) => {
    const found = sweepRun(run, outcomes.get(run.run_id), figures(run.run_id));
    return found === null ? [] : [found];
  });
  return sweepsOf(runs).map(({ sweep }) => ({ ...sweep, sweep_id: runIds(sweep)[0] ?? sweep.source.name }));
}

/** The sweep that a run belongs to, so that an id holds when the time range begins later; null: none. */
export function sweepWithRun(sweeps: readonly StoredSweep[], runId: string): StoredSweep | null {
  return sweeps.find((sweep) => runIds(sweep).includes(runId)) ?? null;
}

export function sweepPage(sweeps: readonly StoredSweep[]): SweepsResponse {
  return {
    sweeps: sweeps.map(sweepSummary),
    page: 1,
    limit: sweeps.length,
    total: sweeps.length,
    omitted_runs: 0,
    unreadable_runs: [],
  };
}

/** The oldest first. */
function runIds({ steps }: Pick<StoredSweep, 'steps'>): string[] {
  const runs = steps.flatMap((step) => step.runs);
  return runs.sort((a, b) => ((a.start ?? '') < (b.start ?? '') ? -1 : 1)).map(({ run_id }) => run_id);
}

/** Null for a run that is not finished, or whose load is not one number. */
function sweepRun(
  run: RunSummary,
  outcome: Record<string, string> | undefined,
  figures: SweepRunFigures
): SweepRun | null {
  const status = (['completed', 'aborted', 'failed'] as const).find((one) => one === outcome?.['status']);
  const label = loadOfLabel(run.load ?? '');
  if (status === undefined || label === null) {
    return null;
  }
  const { scenario, model, endpoint_type, system, system_version, tool, tool_version } = run;
  const identity = {
    ...{ scenario, model, endpoint_type, system, system_version, tool, tool_version },
    origin: null,
    // The number of different requests grows with the load in many sweeps.
    dataset: outcome?.['dataset']?.replace(/(^|, )entries \d+$/, '') || null,
  };
  return {
    ...{ run_id: run.run_id, start: run.start, end: run.end, status, group_id: run.group_id, load: label.load },
    identity,
    key: JSON.stringify([identity, label.load.mode, label.arrivalPattern]),
    requests: run.numbers?.requests ?? { ok: null, error: null, timeout: null, cancelled: null },
    figures,
    slos: [],
    goodput_limits: [],
    gpus: null,
  };
}

function figuresOfSeries(series: readonly PrometheusSeries[]): (runId: string) => SweepRunFigures {
  const table = new Map<string, number>();
  for (const { refId, labels, values } of series) {
    const value = values.at(-1);
    if (refId.startsWith(FIGURE) && value !== undefined) {
      table.set([labels['run_id'], labels['measure'], labels['stat']].join('\n'), value);
    }
  }
  return (runId) => {
    const look = (measure: string, stat: string) => {
      const value = table.get([runId, measure, stat].join('\n'));
      return value === undefined ? null : exact(value);
    };
    return figuresOf({ scalar: (name) => look(name, 'value'), percentile: look });
  };
}
