import type { Histograms } from '../native/histograms.ts';
import {
  exactResult,
  nativeQuantile,
  percentileEdge,
  quantileOverTime,
  rateOverTime,
  runMatcher,
  runThroughput,
  runTotal,
  withRunName,
  WHOLE_RANGE,
  type ClientHistogram,
  type RunSelection,
} from '../../../prometheus/queries.ts';
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

function percentile(quantile: number): string {
  return `p${quantile * 100}`;
}

/**
 * Percentiles of whole runs: exact ones of those whose result is published, else the interval of the buckets, or, of native
 * histograms, an estimate.
 */
export function wholeRunPercentiles(
  histogram: ClientHistogram,
  quantiles: readonly number[],
  histograms: Histograms,
): Query[] {
  return quantiles.flatMap((quantile) => {
    const name = percentile(quantile);
    const exact = exactResult({ unit: 'seconds', measure: histogram, stat: name }, SELECTED_RUNS);
    const query = { histogram, quantile, of: SELECTED_RUNS };
    const untilThen = (edge: 'low' | 'high'): string => `(${percentileEdge(query, edge)}) unless on (run_id) ${exact}`;
    return [
      ofRuns(exact, `${name} exact,`),
      ofRuns(untilThen('low'), `${name} at least,`),
      ofRuns(untilThen('high'), `${name} at most,`),
      ...(histograms === 'either'
        ? [ofRuns(`(${nativeQuantile(query)}) unless on (run_id) ${exact}`, `${name} estimated,`)]
        : []),
    ];
  });
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
function requests(outcomes: readonly string[]): Query {
  const published = outcomes.map((stat) => exactResult({ unit: 'requests', measure: 'requests', stat }, SELECTED_RUNS));
  const matchers = `phase="measure",outcome=~"${outcomes.join('|')}"`;
  return ofRuns(`${published.join(' + ')} or ${runTotal('llmbench_requests_total', SELECTED_RUNS, matchers)}`);
}

export const requestsOk = requests(['ok']);
export const requestsFailed = requests(['error', 'timeout']);

/** A throughput of the whole measure phase: of the result, or, as long as none is published, from counters. */
function throughput(unit: string, measure: string, untilThen: string): Query[] {
  const exact = exactResult({ unit, measure, stat: 'value' }, SELECTED_RUNS);
  return [ofRuns(exact), ofRuns(`(${untilThen}) unless on (run_id) ${exact}`, 'from counters,')];
}

export const requestThroughput = throughput(
  'requests_per_second',
  'request_throughput',
  runThroughput('llmbench_requests_total', SELECTED_RUNS, 'outcome="ok"'),
);

export const outputTokenThroughput = throughput(
  'tokens_per_second',
  'output_token_throughput',
  runThroughput('llmbench_output_tokens_total', SELECTED_RUNS),
);

/** One number of the published results of runs, with their names. */
export function resultOfRuns(unit: string, measure: string): string {
  return withRunName(exactResult({ unit, measure, stat: 'value' }, SELECTED_RUNS), SELECTED_RUNS);
}

const IN_FLIGHT = `sum by (run_id) (llmbench_requests_in_flight{${runMatcher(SELECTED_RUNS)}})`;

export const inFlight = ofRuns(IN_FLIGHT, 'client');

/** Summed over shards at each instant, then the highest: the sum of the shards' own peaks never happened. */
export const inFlightPeak = ofRuns(`max_over_time(${IN_FLIGHT}[$__range:$scrape_interval])`);

export const requestRates = ofRuns(rateOverTime('llmbench_requests_total', SELECTED_RUNS, ['outcome']), '{{outcome}}');

export const errorRates = ofRuns(
  rateOverTime('llmbench_request_errors_total', SELECTED_RUNS, ['reason']),
  '{{reason}}',
);

export const outputTokenRate = ofRuns(rateOverTime('llmbench_output_tokens_total', SELECTED_RUNS), 'client');

/** Share of a run's first tokens that came within the objective, which is a bucket bound. */
export const objectiveKept = ofRuns(
  `sum by (run_id) (last_over_time(llmbench_time_to_first_token_seconds_bucket{run_id=~"$run",le="$ttft_slo"}[${WHOLE_RANGE}])) / ` +
    `sum by (run_id) (last_over_time(llmbench_time_to_first_token_seconds_count{run_id=~"$run"}[${WHOLE_RANGE}]))`,
);

/** The objectives that the run was started with: 1 met, 0 missed. */
export const objectivesMet = ofRuns(
  `max by (run_id, slo) (last_over_time(llmbench_slo_met{run_id=~"$run"}[${WHOLE_RANGE}]))`,
  '{{slo}},',
);

/** 1: the client was short of CPU at some time. */
export const saturated = ofRuns(
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
