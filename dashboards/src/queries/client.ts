import type { Histograms } from '../../../prometheus/native-histograms.ts';
import {
  exactResult,
  exactResultBy,
  nativeQuantile,
  percentileEdge,
  quantileOverTime,
  quantileOverTimeBy,
  rateOverTime,
  runMatcher,
  runProgress,
  runThroughput,
  runTimeLeft,
  runTotal,
  withRunName,
  WHOLE_RANGE,
  type ClientHistogram,
  type RunPart,
  type RunSelection,
} from '../../../prometheus/queries.ts';
import { shareWithin } from '../../../prometheus/objectives.ts';
import type { Query } from '../target.ts';

/** The runs that the viewer has chosen; they stay apart in every query. */
export const SELECTED_RUNS: RunSelection = { runs: '$run' };
/** In a panel that is repeated for each chosen run: that run. */
const REPEATED_RUN: RunSelection = { run: '$run' };

/** A query with one series per chosen run, or several, named by scenario and start: a run id would fill the legend. */
export function ofRuns(expr: string, name = ''): Query {
  const legend = [name, '{{scenario}} {{start}}'].filter(Boolean).join(' ');
  return { expr: withRunName(expr, SELECTED_RUNS), legend, perRun: true };
}

/** The chosen run that began last: tiles show one run, because more than three series overlap. */
const NEWEST =
  'topk(1, max by (run_id) (last_over_time(llmbench_run_phase_start_timestamp_seconds' +
  `{${runMatcher(SELECTED_RUNS)}}[${WHOLE_RANGE}])) or max by (run_id) ` +
  `(last_over_time(llmbench_run_end_timestamp_seconds{${runMatcher(SELECTED_RUNS)}}[${WHOLE_RANGE}])))`;

/** A query of a tile, with the series of the newest chosen run alone. */
function ofNewest(expr: string, legend = ''): Query {
  return { expr: `(${expr}) and on (run_id) ${NEWEST}`, legend, perRun: true };
}

function percentile(quantile: number): string {
  return `p${quantile * 100}`;
}

/**
 * Median and p99 of the newest chosen run: exact ones if its result is published, else the interval of the p99 from its
 * buckets, or, of a native histogram, an estimate.
 */
export function wholeRunPercentiles(histogram: ClientHistogram, histograms: Histograms): Query[] {
  const exact = (stat: string): string => exactResult({ unit: 'seconds', measure: histogram, stat }, SELECTED_RUNS);
  const query = { histogram, quantile: 0.99, of: SELECTED_RUNS };
  const untilThen = (expr: string): string => `(${expr}) unless on (run_id) ${exact('p99')}`;
  return [
    ofNewest(exact('p50'), 'p50'),
    ofNewest(exact('p99'), 'p99'),
    ofNewest(untilThen(percentileEdge(query, 'low')), 'p99 at least'),
    ofNewest(untilThen(percentileEdge(query, 'high')), 'p99 at most'),
    ...(histograms === 'either' ? [ofNewest(untilThen(nativeQuantile(query)), 'p99 estimated')] : []),
  ];
}

/** Percentiles over time; `name` distinguishes these lines from others in the panel. */
export function percentilesOverTime(histogram: ClientHistogram, quantiles: readonly number[], name = ''): Query[] {
  return quantiles.map((quantile) =>
    ofRuns(
      quantileOverTime({ histogram, quantile, of: SELECTED_RUNS }),
      [name, percentile(quantile)].filter(Boolean).join(' '),
    ),
  );
}

/** Observations per second in each bucket of one run: grids of several runs are never added. */
export function bucketsOverTime(histogram: ClientHistogram): string {
  return `sum by (le) (rate(llmbench_${histogram}_seconds_bucket{${runMatcher(REPEATED_RUN)}}[$__rate_interval]))`;
}

/** Requests of the measure phase with one of these outcomes: of the result, or as far as they are counted. */
function requests(outcomes: readonly string[]): string {
  const published = outcomes.map((stat) => exactResult({ unit: 'requests', measure: 'requests', stat }, SELECTED_RUNS));
  const matchers = `phase="measure",outcome=~"${outcomes.join('|')}"`;
  return `${published.join(' + ')} or ${runTotal('llmbench_requests_total', SELECTED_RUNS, matchers)}`;
}

const OK = requests(['ok']);
const FAILED = requests(['error', 'timeout']);
export const requestsOk = ofNewest(OK);
export const requestsFailed = ofNewest(FAILED);

/** A throughput of the measure phase: of the result, or, until it is published, from counters, so far. */
function throughput(unit: string, measure: string, counter: string, matchers = ''): Query[] {
  const exact = exactResult({ unit, measure, stat: 'value' }, SELECTED_RUNS);
  const soFar = runThroughput(counter, SELECTED_RUNS, matchers);
  return [ofNewest(exact), ofNewest(`(${soFar}) unless on (run_id) ${exact}`, 'so far')];
}

export const requestThroughput = throughput(
  'requests_per_second',
  'request_throughput',
  'llmbench_requests_total',
  'outcome="ok"',
);

export const outputTokenThroughput = throughput(
  'tokens_per_second',
  'output_token_throughput',
  'llmbench_output_tokens_total',
);

const COMPLETED = `max by (run_id) (last_over_time(llmbench_run_status{${runMatcher(SELECTED_RUNS)},status="completed"}[${WHOLE_RANGE}])) == 1`;
/** The share of a run's measure phase that is done, and how long the rest takes at the present pace: of a completed run, none. */
export const progress = [ofNewest(runProgress(SELECTED_RUNS), 'done'), ofNewest(COMPLETED)];
export const timeLeft = [ofNewest(runTimeLeft(SELECTED_RUNS), 'left'), ofNewest(`0 * (${COMPLETED})`)];

/** One number of the published results of runs, with their names. */
export function resultOfRuns(unit: string, measure: string, stat = 'value'): string {
  return withRunName(exactResult({ unit, measure, stat }, SELECTED_RUNS), SELECTED_RUNS);
}

/** The same by model or by turn. */
export function resultOfParts(by: RunPart, unit: string, measure: string, stat = 'value'): string {
  return withRunName(exactResultBy(by, { unit, measure, stat }, SELECTED_RUNS), SELECTED_RUNS);
}

/** A percentile of the first tokens over time, by model or by turn. */
export function firstTokensOverTime(by: RunPart, quantile: number): Query {
  const query = { histogram: 'time_to_first_token', quantile, of: SELECTED_RUNS } as const;
  return ofRuns(quantileOverTimeBy(by, query), `{{${by}}} ${percentile(quantile)}`);
}

/** Requests that ended per second, by model or by turn. */
export function requestRatesOf(by: RunPart): Query {
  return ofRuns(rateOverTime(`llmbench_by_${by}_requests_total`, SELECTED_RUNS, [by]), `{{${by}}}`);
}

/** Requests of the measure phase of runs, with their names. */
export const okOfRuns = withRunName(OK, SELECTED_RUNS);
export const failedOfRuns = withRunName(FAILED, SELECTED_RUNS);

const IN_FLIGHT = `sum by (run_id) (llmbench_requests_in_flight{${runMatcher(SELECTED_RUNS)}})`;

export const inFlight = ofRuns(IN_FLIGHT, 'client');

export const requestRates = ofRuns(rateOverTime('llmbench_requests_total', SELECTED_RUNS, ['outcome']), '{{outcome}}');

export const errorRates = ofRuns(
  rateOverTime('llmbench_request_errors_total', SELECTED_RUNS, ['reason']),
  '{{reason}}',
);

export const outputTokenRate = ofRuns(rateOverTime('llmbench_output_tokens_total', SELECTED_RUNS), 'client');

/** Per second, of ok requests: only runs whose requests have any count them. */
export const documentRate = ofRuns(rateOverTime('llmbench_documents_total', SELECTED_RUNS), 'documents');
export const imageRate = ofRuns(rateOverTime('llmbench_images_total', SELECTED_RUNS), 'images');
export const audioRate = ofRuns(rateOverTime('llmbench_audio_seconds_total', SELECTED_RUNS), 'audio');

/** Share of a run's first tokens that came within the objective: at least and at most. */
export const objectiveKept: readonly Query[] = (['least', 'most'] as const).map((edge) => {
  const counts = (name: string, matchers: string, by: readonly string[]): string =>
    `sum by (${by.join(', ')}) (last_over_time(llmbench_time_to_first_token_seconds_${name}{run_id=~"$run"${matchers}}[${WHOLE_RANGE}]))`;
  const labels = ['run_id'];
  const counted = {
    buckets: counts('bucket', ',le!="+Inf"', [...labels, 'le']),
    atLimit: counts('bucket', ',le="$ttft_slo"', labels),
    count: counts('count', '', labels),
    labels,
  };
  return ofNewest(shareWithin(counted, '$ttft_slo', edge), `at ${edge}`);
});

/** The objectives that the run was started with: 1 met, 0 missed. */
export const objectivesMet = ofNewest(
  `max by (run_id, slo) (last_over_time(llmbench_slo_met{run_id=~"$run"}[${WHOLE_RANGE}]))`,
  '{{slo}}',
);

/** 1: the client was short of CPU at some time. */
export const saturated = ofNewest(
  `max by (run_id) (max_over_time(llmbench_client_saturated{run_id=~"$run"}[${WHOLE_RANGE}]))`,
);

export const eventLoopDelay = ofRuns(
  'histogram_quantile(0.99, sum by (run_id, le) (rate(llmbench_client_event_loop_delay_seconds_bucket{run_id=~"$run"}[$__rate_interval])))',
  'p99',
);

/** The facts of `llmbench_run_info` from what people know a run by to what identifies it. */
export const RUN_FACTS = [
  'scenario',
  'start',
  'model',
  'endpoint_type',
  'load',
  'system',
  'system_version',
  'tool',
  'tool_version',
  'step',
  'repeat',
  'run_id',
  'group_id',
  'fingerprint',
] as const;

/** Every run of the chosen scenarios in the time range, also one that is not chosen. */
export const RUNS = `max by (${RUN_FACTS.join(', ')}) (last_over_time(llmbench_run_info{scenario=~"$scenario"}[$__range]))`;
