import {
  exactQuantile,
  quantileOverTime,
  rateOverTime,
  runMatcher,
  runThroughput,
  runTotal,
  type ClientHistogram,
  type RunSelection,
} from '../../../prometheus/queries.ts';
import type { Query } from '../target.ts';

/** The runs that the viewer has chosen; they stay apart in every query. */
export const SELECTED_RUNS: RunSelection = { runs: '$run' };
/** In a panel that is repeated for each chosen run: that run. */
const REPEATED_RUN: RunSelection = { run: '$run' };

function percentile(quantile: number): string {
  return `p${quantile * 100}`;
}

/** Percentiles of whole runs. */
export function exactPercentiles(histogram: ClientHistogram, quantiles: readonly number[]): Query[] {
  return quantiles.map((quantile) => ({
    expr: exactQuantile({ histogram, quantile, of: SELECTED_RUNS }),
    legend: `${percentile(quantile)} {{run_id}}`,
  }));
}

/** Percentiles over time; `name` distinguishes these lines from others in the panel. */
export function percentilesOverTime(histogram: ClientHistogram, quantiles: readonly number[], name = ''): Query[] {
  return quantiles.map((quantile) => ({
    expr: quantileOverTime({ histogram, quantile, of: SELECTED_RUNS }),
    legend: [name, percentile(quantile), '{{run_id}}'].filter(Boolean).join(' '),
  }));
}

/** Observations per second in each bucket of one run: grids of several runs are never added. */
export function bucketsOverTime(histogram: ClientHistogram): string {
  return `sum by (le) (rate(llmbench_${histogram}_seconds_bucket{${runMatcher(REPEATED_RUN)}}[$__rate_interval]))`;
}

export const requestsOk: Query = {
  expr: runTotal('llmbench_requests_total', SELECTED_RUNS, 'phase="measure",outcome="ok"'),
  legend: '{{run_id}}',
};

export const requestsFailed: Query = {
  expr: runTotal('llmbench_requests_total', SELECTED_RUNS, 'phase="measure",outcome=~"error|timeout"'),
  legend: '{{run_id}}',
};

export const requestThroughput: Query = {
  expr: runThroughput('llmbench_requests_total', SELECTED_RUNS, 'outcome="ok"'),
  legend: '{{run_id}}',
};

export const outputTokenThroughput: Query = {
  expr: runThroughput('llmbench_output_tokens_total', SELECTED_RUNS),
  legend: '{{run_id}}',
};

const IN_FLIGHT = `sum by (run_id) (llmbench_requests_in_flight{${runMatcher(SELECTED_RUNS)}})`;

export const inFlight: Query = { expr: IN_FLIGHT, legend: 'client {{run_id}}' };

/** Summed over shards at each instant, then the highest: the sum of the shards' own peaks never happened. */
export const inFlightPeak: Query = {
  expr: `max_over_time(${IN_FLIGHT}[$__range:$scrape_interval])`,
  legend: '{{run_id}}',
};

export const requestRates: Query = {
  expr: rateOverTime('llmbench_requests_total', SELECTED_RUNS, ['outcome']),
  legend: '{{outcome}} {{run_id}}',
};

export const errorRates: Query = {
  expr: rateOverTime('llmbench_request_errors_total', SELECTED_RUNS, ['reason']),
  legend: '{{reason}} {{run_id}}',
};

export const outputTokenRate: Query = {
  expr: rateOverTime('llmbench_output_tokens_total', SELECTED_RUNS),
  legend: 'client {{run_id}}',
};

/** The facts of `llmbench_run_info` that identify a run and say what it did. */
export const RUN_FACTS = [
  'run_id',
  'scenario',
  'model',
  'endpoint_type',
  'load',
  'system',
  'system_version',
  'tool',
  'tool_version',
  'group_id',
  'step',
  'repeat',
  'fingerprint',
] as const;

/** Every run of the chosen scenarios in the time range, also one that is not chosen. */
export const RUNS = `max by (${RUN_FACTS.join(', ')}) (last_over_time(llmbench_run_info{scenario=~"$scenario"}[$__range]))`;
