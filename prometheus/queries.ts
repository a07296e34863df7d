/** The client's latency histograms in Prometheus; each is `llmbench_<name>_seconds`, of the measure phase only. */
export type ClientHistogram =
  | 'time_to_first_token'
  | 'time_to_first_token_from_due'
  | 'inter_token_latency'
  | 'inter_chunk_latency'
  | 'request_latency'
  | 'schedule_delay';

/**
 * Which runs a query is about. `run` is one run, and its shards are added up. `runs` is a regular expression: the runs
 * stay apart, because their bucket bounds may differ and different grids must not be added.
 */
export type RunSelection = { readonly run: string } | { readonly runs: string };

export interface QuantileQuery {
  readonly histogram: ClientHistogram;
  /** From 0 to 1. */
  readonly quantile: number;
  readonly of: RunSelection;
  /** The range of the range selector, without brackets: `5m`, or a variable of Grafana. */
  readonly window?: string;
}

/** The range of a query over a whole run: Grafana's time range. */
export const WHOLE_RANGE = '$__range';
/** The range of a rate: Grafana's, never shorter than four scrapes. */
export const RATE_RANGE = '$__rate_interval';

/** The matcher on `run_id`, without braces, so that further matchers can follow it. */
export function runMatcher(of: RunSelection): string {
  return 'run' in of ? `run_id=${JSON.stringify(of.run)}` : `run_id=~${JSON.stringify(of.runs)}`;
}

/** The labels that a sum over the shards of the selected runs keeps. */
function runLabels(of: RunSelection, ...labels: readonly string[]): string {
  return ('run' in of ? labels : ['run_id', ...labels]).join(', ');
}

/**
 * A percentile of whole runs, in seconds. A run's series start at 0, so their last value is the run; it is found in the
 * window also when the run ended before the window did. Estimated as `histogram_quantile` does, within one bucket.
 */
export function exactQuantile({ histogram, quantile, of, window = WHOLE_RANGE }: QuantileQuery): string {
  const buckets = `llmbench_${histogram}_seconds_bucket{${runMatcher(of)}}`;
  return `histogram_quantile(${quantile}, sum by (${runLabels(of, 'le')}) (last_over_time(${buckets}[${window}])))`;
}

/** A percentile over time, in seconds: of what was observed in the window before each instant. */
export function quantileOverTime({ histogram, quantile, of, window = RATE_RANGE }: QuantileQuery): string {
  const buckets = `llmbench_${histogram}_seconds_bucket{${runMatcher(of)}}`;
  return `histogram_quantile(${quantile}, sum by (${runLabels(of, 'le')}) (rate(${buckets}[${window}])))`;
}

/** The labels of a run on `llmbench_run_info`. */
export type RunFact = 'scenario' | 'model' | 'system' | 'load' | 'fingerprint' | 'group_id' | 'step' | 'repeat';

/**
 * Puts facts of the run on the samples of a query that keeps `run_id`. With a window, the facts are also found of runs
 * that are no longer scraped at the instant of the query; without, only of running ones.
 */
export function withRunFacts(
  query: string,
  facts: readonly RunFact[] = ['scenario', 'model'],
  window: string | null = null,
): string {
  const info = window === null ? 'llmbench_run_info' : `last_over_time(llmbench_run_info[${window}])`;
  const labels = facts.join(', ');
  return `${query} * on (run_id) group_left (${labels}) max by (run_id, ${labels}) (${info})`;
}

/** How many of a run's `…_total` there were in the whole run; `matchers` such as `phase="measure"` may narrow it. */
export function runTotal(counter: string, of: RunSelection, matchers = '', window = WHOLE_RANGE): string {
  return `sum by (run_id) (last_over_time(${counter}{${selector(of, matchers)}}[${window}]))`;
}

/**
 * A run's `…_total` of the measure phase per second of that phase. Empty while the phase lasts: what has not ended has
 * no throughput of the whole.
 */
export function runThroughput(counter: string, of: RunSelection, matchers = '', window = WHOLE_RANGE): string {
  const measured = ['phase="measure"', matchers].filter(Boolean).join(',');
  const edge = (name: 'start' | 'end'): string =>
    `last_over_time(llmbench_run_phase_${name}_timestamp_seconds{${selector(of, 'phase="measure"')}}[${window}])`;
  // `> 0`: the end of a phase that has not ended. Shards start and end at their own instants.
  return (
    `${runTotal(counter, of, measured, window)} / ` +
    `((max by (run_id) (${edge('end')}) > 0) - min by (run_id) (${edge('start')} > 0))`
  );
}

/** A counter's increase per second over time, summed to the run and the given labels. */
export function rateOverTime(
  counter: string,
  of: RunSelection,
  by: readonly string[] = [],
  matchers = '',
  window = RATE_RANGE,
): string {
  return `sum by (${['run_id', ...by].join(', ')}) (rate(${counter}{${selector(of, matchers)}}[${window}]))`;
}

function selector(of: RunSelection, matchers: string): string {
  return [runMatcher(of), matchers].filter(Boolean).join(',');
}
