import { PHASES, type Outcome, type PhaseName } from '../../../core/run/record.ts';
import type { KeyDistribution, KeyNumbers, RunSummary } from '../../../core/api/runs.ts';
import type { PrometheusSeries, PrometheusTarget } from '../prometheus/query-prometheus.ts';

const INFO_LABELS =
  'run_id, scenario, start, model, endpoint_type, system, system_version, tool, tool_version, load, fingerprint, group_id, step, repeat';
const MEASURES = 'time_to_first_token|inter_token_latency|request_latency';

/** Queries that list the runs of the `rangeSeconds` before an instant. `runId` restricts them to one run. */
export function runQueries(rangeSeconds: number, runId?: string): PrometheusTarget[] {
  const range = `[${Math.max(1, Math.ceil(rangeSeconds))}s]`;
  const run = runId === undefined ? '' : `run_id=${JSON.stringify(runId)}`;
  const of = (name: string, matchers = '') => `${name}{${[run, matchers].filter(Boolean).join(',')}}`;
  const last = (name: string, matchers = '') => `last_over_time(${of(name, matchers)}${range})`;
  const result = (unit: string, matchers: string) =>
    `max by (run_id, measure, stat) (${last(`llmbench_result_${unit}`, matchers)})`;
  const queries: Array<[refId: string, expr: string]> = [
    ['info', `max by (${INFO_LABELS}) (${last('llmbench_run_info')})`],
    ['phase_start', `min by (run_id, phase) (${last('llmbench_run_phase_start_timestamp_seconds')} > 0)`],
    ['phase_end', `max by (run_id, phase) (${last('llmbench_run_phase_end_timestamp_seconds')} > 0)`],
    ['active', `max by (run_id, phase) (${of('llmbench_run_phase')} == 1)`],
    ['done', `sum by (run_id) (${of('llmbench_requests_total', 'phase="measure"')})`],
    ['failed', `sum by (run_id) (${of('llmbench_requests_total', 'phase="measure",outcome=~"error|timeout"')})`],
    ['tokens', `sum by (run_id) (${of('llmbench_output_tokens_total', 'phase="measure"')})`],
    ['planned_requests', `max by (run_id) (${of('llmbench_run_planned_requests')})`],
    ['planned_seconds', `max by (run_id) (${of('llmbench_run_planned_seconds')})`],
    ['seconds', result('seconds', `measure=~"${MEASURES}",stat=~"mean|p50|p90|p99"`)],
    ['requests', result('requests', 'measure="requests"')],
    ['request_rate', result('requests_per_second', 'measure="request_throughput"')],
    ['token_rate', result('tokens_per_second', 'measure="output_token_throughput"')],
    ['document_rate', result('documents_per_second', 'measure="document_throughput"')],
    ['ratio', result('ratio', 'measure="error_ratio"')],
  ];
  return queries.map(([refId, expr]) => ({ refId, expr, instant: true }));
}

/** Runs from Prometheus alone: what it does not expose is null. `nowMs` is the instant of the query. */
export function runsOfSeries(series: readonly PrometheusSeries[], nowMs: number): RunSummary[] {
  const table = new Map<string, number>();
  for (const { refId, labels, values } of series) {
    const value = values.at(-1);
    if (refId !== 'info' && value !== undefined) {
      const { run_id, phase, measure, stat } = labels;
      table.set([refId, run_id, phase ?? measure, stat].join('\n'), value);
    }
  }
  const look: Lookup = (refId, runId, name, stat) => table.get([refId, runId, name, stat].join('\n')) ?? null;
  const infos = series.filter(({ refId }) => refId === 'info').map(({ labels }) => labels);
  return infos.map((labels) => summary(labels, look, nowMs));
}

type Lookup = (refId: string, runId: string, name?: string, stat?: string) => number | null;

function summary(labels: Record<string, string>, look: Lookup, nowMs: number): RunSummary {
  const runId = labels['run_id'] ?? '';
  const edge = (refId: string, phase: PhaseName) => look(refId, runId, phase);
  const measureStart = edge('phase_start', 'measure');
  const start = edge('phase_start', 'warmup') ?? measureStart ?? startOf(labels);
  const active = PHASES.find((phase) => look('active', runId, phase) === 1) ?? null;
  const numbers = keyNumbers(runId, look);
  const end = active === null ? edge('phase_end', 'measure') : null;
  return {
    run_id: runId,
    // A run without results that is no longer scraped counts as aborted: Prometheus has no more information.
    status: active !== null ? 'running' : numbers ? 'completed' : 'aborted',
    scenario: labels['scenario'] ?? '',
    model: labels['model'] || null,
    endpoint_type: labels['endpoint_type'] || null,
    load: labels['load'] || null,
    dataset: null,
    imported_at: null,
    import_position: null,
    system: labels['system'] || null,
    system_version: labels['system_version'] || null,
    origin: null,
    tool: labels['tool'] ?? '',
    tool_version: labels['tool_version'] || null,
    fingerprint: labels['fingerprint'] ?? '',
    group_id: labels['group_id'] || null,
    step: labels['step'] ? Number(labels['step']) : null,
    repeat: labels['repeat'] ? Number(labels['repeat']) : null,
    tags: [],
    recovered: false,
    failure: null,
    start: instant(start),
    end: instant(end),
    duration_seconds: start !== null && end !== null ? end - start : null,
    measure_start: instant(measureStart),
    measure_end: instant(end),
    phases: PHASES.flatMap((phase) => {
      const begun = edge('phase_start', phase);
      return begun === null ? [] : [{ phase, start: instant(begun), end: instant(edge('phase_end', phase)) }];
    }),
    // Prometheus has them as series of their own.
    stages: [],
    target_changes: [],
    progress:
      active === null
        ? null
        : {
            phase: active,
            requests_done: look('done', runId) ?? 0,
            requests_failed: look('failed', runId) ?? 0,
            output_tokens: look('tokens', runId) ?? 0,
            requests_planned: look('planned_requests', runId),
            elapsed_seconds: measureStart === null ? null : Math.max(0, nowMs / 1000 - measureStart),
            planned_seconds: look('planned_seconds', runId),
          },
    numbers,
    // Prometheus has verdicts per scenario only.
    verdict: null,
  };
}

function keyNumbers(runId: string, look: Lookup): KeyNumbers | null {
  const ok = look('requests', runId, 'requests', 'ok');
  if (ok === null) {
    return null;
  }
  const outcome = (name: Outcome) => look('requests', runId, 'requests', name);
  const distribution = (measure: string): KeyDistribution | null => {
    const stat = (name: string) => look('seconds', runId, measure, name);
    return stat('p50') === null
      ? null
      : { definition: '', n: ok, mean: stat('mean'), p50: stat('p50'), p90: stat('p90'), p99: stat('p99') };
  };
  return {
    requests: { ok, error: outcome('error'), timeout: outcome('timeout'), cancelled: outcome('cancelled') },
    time_to_first_token_seconds: distribution('time_to_first_token'),
    inter_token_latency_seconds: distribution('inter_token_latency'),
    request_latency_seconds: distribution('request_latency'),
    request_throughput: look('request_rate', runId, 'request_throughput', 'value'),
    output_token_throughput: look('token_rate', runId, 'output_token_throughput', 'value'),
    document_throughput: look('document_rate', runId, 'document_throughput', 'value'),
    error_ratio: look('ratio', runId, 'error_ratio', 'value'),
    goodput: null,
    good_request_ratio: null,
    client_verdict: 'unknown',
    slos: null,
  };
}

/** Seconds since 1970, of the label, which earlier versions do not expose, or of a run id that begins with the start. */
function startOf({ start = '', run_id = '' }: Record<string, string>): number | null {
  const ms = Date.parse(start);
  return Number.isNaN(ms) ? startOfId(run_id) : ms / 1000;
}

/** llmbench's own run ids begin with the start in UTC: `20261121T222610Z-…`. Seconds since 1970. */
function startOfId(runId: string): number | null {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(runId) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : ms / 1000;
}

function instant(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString();
}
