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
/** The step of a subquery that finds every scrape: a variable of the dashboards. */
const SCRAPES = '$scrape_interval';
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

/**
 * An edge of the interval in which a percentile of whole runs lies, in seconds. With h = (n − 1)q + 1 it reaches from the
 * lower edge of the bucket that holds the ⌊h⌋-th value to the upper one of the bucket that holds the ⌈h⌉-th; in the overflow
 * bucket there is no upper edge. For histograms with bounds from 0 up.
 */
export function percentileEdge(
  { histogram, quantile, of, window = WHOLE_RANGE }: QuantileQuery,
  edge: 'low' | 'high',
): string {
  const buckets = (matchers: string, ...labels: readonly string[]): string =>
    `sum${byLabels(of, ...labels)} (last_over_time(llmbench_${histogram}_seconds_bucket{${selector(of, matchers)}}[${window}]))`;
  const round = edge === 'low' ? 'floor' : 'ceil';
  const rank = `${round}((${buckets('le="+Inf"')} > 0) * ${quantile} + ${tidy(1 - quantile)})`;
  const on = 'run' in of ? 'on ()' : 'on (run_id)';
  // 1 from the bucket on that holds the value: a histogram of one observation, whose extremes are the bucket's edges.
  const holding = `${buckets('', 'le')} >= bool ${on} group_left () ${rank}`;
  if (edge === 'low') return `histogram_quantile(0.000000001, ${holding})`;
  const finite = buckets('le!="+Inf"', 'le');
  return `histogram_quantile(1, ${holding}) and ${on} ${finite} >= ${on} group_left () ${rank}`;
}

/** A percentile of whole runs that have a native histogram and no classic one, in seconds; estimated within a bucket. */
export function nativeQuantile({ histogram, quantile, of, window = WHOLE_RANGE }: QuantileQuery): string {
  const name = `llmbench_${histogram}_seconds`;
  const last = (metric: string): string => `last_over_time(${metric}{${runMatcher(of)}}[${window}])`;
  const on = 'run' in of ? 'on ()' : 'on (run_id)';
  // Compared, so that it is read of classic histograms alone.
  return `histogram_quantile(${quantile}, sum${byLabels(of)} (${last(name)} unless ${on} ${last(`${name}_count`)} >= 0))`;
}

/** 1 − 0.99 as a decimal number would have it: 0.01. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

function byLabels(of: RunSelection, ...labels: readonly string[]): string {
  const kept = runLabels(of, ...labels);
  return kept === '' ? '' : ` by (${kept})`;
}

/** An exact number of finished runs as `llmbench serve` publishes it; nothing of a run that is under way. */
export function exactResult(
  { unit, measure, stat }: { readonly unit: string; readonly measure: string; readonly stat: string },
  of: RunSelection,
  window = WHOLE_RANGE,
): string {
  const matchers = selector(of, `measure="${measure}",stat="${stat}"`);
  // The exporter and a backfill may both have published it.
  return `max by (run_id) (last_over_time(llmbench_result_${unit}{${matchers}}[${window}]))`;
}

/** A population within a run that is published apart. */
export type RunPart = 'model' | 'turn';

/** The same of the models, or of the first and the later turns, of finished runs. */
export function exactResultBy(
  by: RunPart,
  { unit, measure, stat }: { readonly unit: string; readonly measure: string; readonly stat: string },
  of: RunSelection,
  window = WHOLE_RANGE,
): string {
  const matchers = selector(of, `measure="${measure}",stat="${stat}"`);
  return `max by (run_id, ${by}) (last_over_time(llmbench_result_by_${by}_${unit}{${matchers}}[${window}]))`;
}

/**
 * Names a run by its scenario and its start in UTC, in the labels `scenario` and `start`, on a query that keeps `run_id`. The
 * run id stands for a start that is unknown.
 */
export function withRunName(query: string, of: RunSelection, window = WHOLE_RANGE): string {
  const named = withStart(runMatcher(of), '$2-$3 $4$5', window);
  return `(${query}) * on (run_id) group_left (scenario, start) ${named}`;
}

/**
 * Each run of these scenarios with its start and its scenario in the label `title`: its alphabetical order is that of the
 * starts. `scenarios` is a regular expression.
 */
export function runTitles(scenarios: string, window = WHOLE_RANGE): string {
  const named = withStart(`scenario=~${JSON.stringify(scenarios)}`, '$1-$2-$3 $4$5', window);
  return `label_join(${named}, "title", " ", "start", "scenario")`;
}

/** The runs that match with `run_id`, `scenario` and `start`, which is written with year $1, month $2, day $3, time $4 and its zone $5. */
function withStart(matchers: string, written: string, window: string): string {
  const info = `max by (run_id, scenario, start) (last_over_time(llmbench_run_info{${matchers}}[${window}]))`;
  const either = `label_join(${info}, "start", "/", "start", "run_id")`;
  const start = `label_replace(${either}, "start", "${written}", "start", "([0-9]+)-(..)-(..)T(.+)(Z)/.*")`;
  return `label_replace(${start}, "start", "$1", "start", "/(.+)")`;
}

/**
 * The instances whose metrics the selected runs have read. `targets` is a regular expression on the URL of the page: one that
 * fits none selects none.
 */
export function measuredInstances(of: RunSelection, targets: string, window = WHOLE_RANGE): string {
  const matchers = selector(of, `target=~${JSON.stringify(targets)}`);
  // Live and finished runs, each shard and each exporter expose the same target.
  const addresses = `group by (address) (last_over_time(llmbench_run_target_info{${matchers}}[${window}]))`;
  return `label_replace(${addresses}, "instance", "$1", "address", "(.+)")`;
}

/** The series of the measured instances; all of them if the runs have read no target, or none is selected. */
export function ofMeasured(series: string, of: RunSelection, targets: string, window = WHOLE_RANGE): string {
  const measured = measuredInstances(of, targets, window);
  return `${series} and on (instance) ${measured} or (${series} unless on () ${measured})`;
}

/** The same; all of them also if none of these series is of a measured instance, such as those of another system. */
export function ofMeasuredAmong(series: string, of: RunSelection, targets: string, window = WHOLE_RANGE): string {
  const own = `${series} and on (instance) ${measuredInstances(of, targets, window)}`;
  return `${own} or (${series} unless on () (${own}))`;
}

/** The series of runs that have measured a server of the system; all of them if none has. */
export function ofSystem(runs: string, system: string, window = WHOLE_RANGE): string {
  const seen = (metric: string): string =>
    `group by (run_id) (last_over_time(${metric}{system="${system}"}[${window}]))`;
  // A run whose page was read knows its servers; one of another tool only the system.
  const own = `(${seen('llmbench_run_target_info')} or ${seen('llmbench_run_info')})`;
  return `${runs} and on (run_id) ${own} or (${runs} unless on () ${own})`;
}

/** A percentile over time, in seconds: of what was observed in the window before each instant. */
export function quantileOverTime({ histogram, quantile, of, window = RATE_RANGE }: QuantileQuery): string {
  const buckets = `llmbench_${histogram}_seconds_bucket{${runMatcher(of)}}`;
  return `histogram_quantile(${quantile}, sum by (${runLabels(of, 'le')}) (rate(${buckets}[${window}])))`;
}

/** The same percentile over time by model, or by first and later turns. */
export function quantileOverTimeBy(
  by: RunPart,
  { histogram, quantile, of, window = RATE_RANGE }: QuantileQuery,
): string {
  const buckets = `llmbench_by_${by}_${histogram}_seconds_bucket{${runMatcher(of)}}`;
  return `histogram_quantile(${quantile}, sum by (${runLabels(of, by, 'le')}) (rate(${buckets}[${window}])))`;
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

/** The windows of queries about the measure phase; `step` is that of a subquery that finds the scrapes of a run. */
interface PhaseWindows {
  readonly window?: string;
  readonly step?: string;
}

/** A run's `…_total` of the measure phase per second of that phase; while it lasts, until the last scrape. */
export function runThroughput(
  counter: string,
  of: RunSelection,
  matchers = '',
  { window = WHOLE_RANGE, step = SCRAPES }: PhaseWindows = {},
): string {
  const measured = ['phase="measure"', matchers].filter(Boolean).join(',');
  return `${runTotal(counter, of, measured, window)} / (${measuredSeconds(of, { window, step })} > 0)`;
}

/** How long the measure phase of runs took, or has lasted so far. */
function measuredSeconds(of: RunSelection, { window, step }: Required<PhaseWindows>): string {
  const series = (name: string): string => `llmbench_run_phase${name}{${selector(of, 'phase="measure"')}}`;
  const edge = (name: 'start' | 'end'): string => `last_over_time(${series(`_${name}_timestamp_seconds`)}[${window}])`;
  // `> 0`: the end of a phase that has not ended. Shards start and end at their own instants.
  const ended = `(max by (run_id) (${edge('end')}) > 0)`;
  const scraped = `max by (run_id) (max_over_time(timestamp(${series('')})[${window}:${step}]))`;
  return `((${ended} or ${scraped}) - min by (run_id) (${edge('start')} > 0))`;
}

/**
 * Which share of its measure phase a run has done that is in it: of the planned time or of the planned requests, whichever is
 * nearer to its end. A run that nothing scrapes any more has none.
 */
export function runProgress(of: RunSelection, { window = WHOLE_RANGE, step = SCRAPES }: PhaseWindows = {}): string {
  const planned = (what: 'seconds' | 'requests'): string =>
    `max by (run_id) (last_over_time(llmbench_run_planned_${what}{${runMatcher(of)}}[${window}]))`;
  const ofTime = `${measuredSeconds(of, { window, step })} / ${planned('seconds')}`;
  const ofRequests = `${runTotal('llmbench_requests_total', of, 'phase="measure"', window)} / ${planned('requests')}`;
  const share = `max by (run_id) (label_replace(${ofTime}, "of", "time", "", "") or ${ofRequests})`;
  const isMeasuring = `max by (run_id) (llmbench_run_phase{${selector(of, 'phase="measure"')}}) == 1`;
  return `clamp_max(${share}, 1) and on (run_id) ${isMeasuring}`;
}

/** How many seconds of the measure phase are left at the pace so far. */
export function runTimeLeft(of: RunSelection, { window = WHOLE_RANGE, step = SCRAPES }: PhaseWindows = {}): string {
  const done = runProgress(of, { window, step });
  return `${measuredSeconds(of, { window, step })} * (1 / ((${done}) > 0) - 1)`;
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
