import type { RunTime } from '../hooks/page-context.ts';
import { dateTimeFormat, urlUtil } from '@grafana/data';
import { pageUrl, ROUTES } from '../constants.ts';
import type { RunSummary } from '../../../core/api/runs.ts';
import type { ListedRegression, VerdictResponse } from '../../../core/api/scenarios.ts';

/** A run as people name it: scenario and start; the id where the start is unknown. */
export function runTitle({ scenario, start, run_id }: Pick<RunSummary, 'scenario' | 'start' | 'run_id'>): string {
  return [scenario, start === null ? run_id : dateTimeFormat(start)].filter(Boolean).join(', ');
}

type TimedRun = Pick<RunSummary, 'start' | 'end' | 'status'>;

/** Seconds of time range before and after a run. */
const MARGIN_SECONDS = 15;

/** The time range that shows these runs, with a margin; null when none has a time. */
export function timeOfRuns(runs: readonly TimedRun[]): RunTime | null {
  const timed = runs.filter(({ start }) => start !== null);
  if (timed.length === 0) {
    return null;
  }
  const starts = timed.map(({ start }) => Date.parse(start ?? ''));
  const ends = timed.map(({ start, end }) => Date.parse(end ?? start ?? ''));
  const isRunning = timed.some(({ status }) => status === 'running');
  return {
    from: Math.floor(Math.min(...starts) / 1000 - MARGIN_SECONDS) * 1000,
    to: isRunning ? 'now' : Math.ceil(Math.max(...ends) / 1000 + MARGIN_SECONDS) * 1000,
  };
}

/** URL of the run's page with the selected data sources and the run's time range. */
export function runUrl(run: TimedRun & Pick<RunSummary, 'run_id'>, search: string): string {
  return withParameters(`${pageUrl(ROUTES.runs)}/${encodeURIComponent(run.run_id)}`, search, timeOfRuns([run]));
}

/** URL of the comparison of these runs: the first one is the baseline. */
export function compareUrl([first, ...others]: readonly RunSummary[], search: string): string {
  return compareSetsUrl({ a: first ? [first.run_id] : [], b: others.map(({ run_id }) => run_id) }, search);
}

/** URL of the comparison of two sets of runs: ids, or the exporter's selectors such as `scenario:chat`. */
export function compareSetsUrl(
  { a, b, leftOut = null }: { a: readonly string[]; b: readonly string[]; leftOut?: string | null },
  search: string
): string {
  return withParameters(pageUrl(ROUTES.compare), search, null, {
    ...{ a: [...a], b: [...b] },
    ...(leftOut !== null && { left_out: [leftOut] }),
  });
}

/** URL of the comparison that a verdict is based on: without the run that was left out of its own confirmation, which it names. */
export function verdictUrl(
  {
    baseline_run_ids: a,
    run_ids,
    left_out: leftOut,
  }: Pick<VerdictResponse, 'baseline_run_ids' | 'run_ids' | 'left_out'>,
  search: string
): string | null {
  const b = run_ids.filter((id) => id !== leftOut);
  return a.length > 0 && b.length > 0 ? compareSetsUrl({ a, b, leftOut }, search) : null;
}

/** URL of the comparison of all judged runs of a regression with the runs that they are judged against. */
export function regressionUrl(
  { baseline_run_ids: a, run_ids: b }: Pick<ListedRegression, 'baseline_run_ids' | 'run_ids'>,
  search: string
): string | null {
  return a.length > 0 && b.length > 0 ? compareSetsUrl({ a, b }, search) : null;
}

/** URL of the history of a scenario. */
export function trendsUrl(scenario: string, search: string): string {
  return withParameters(pageUrl(ROUTES.trends), search, null, { scenario: [scenario] });
}

function withParameters(
  path: string,
  search: string,
  time: RunTime | null,
  more: Record<string, string[]> = {}
): string {
  const current = new URLSearchParams(search);
  const kept = ['var-prometheus', 'var-exporter', 'timezone'].flatMap((name) => {
    const value = current.get(name);
    return value === null ? [] : [[name, value]];
  });
  return urlUtil.renderUrl(path, {
    ...Object.fromEntries(kept),
    ...(time && { from: time.from, to: time.to }),
    ...more,
  });
}
