import { runMatcher } from '../../../prometheus/queries.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import { cell, type Cell } from './panel-spec.ts';
import type { ServerQueries } from './server-queries.ts';

/** Which of the targets that showed one of the families in the time range answered their last scrape in it. */
export function targetsUp(q: ServerQueries, ...presence: readonly string[]): Cell {
  const chosen = 'job=~"$job",instance=~"$instance"';
  const seen = `last_over_time(${q.anyOf(presence)}[$__range])`;
  // Servers that a benchmark finds are scraped as long as it lasts: of a past run, the last scrape is not at the end.
  const expr = `min by (instance) (last_over_time(up{${chosen}}[$__range]) and on (job, instance) ${seen})`;
  return cell(
    'Up',
    'whether the last scrape in the time range was answered. A server that is down has stopped or is too busy to answer: the ' +
      'other panels have a gap there, not a zero. A benchmark that has ended is no longer scraped, nor are the servers that ' +
      'only it has found.',
    [q.custom(expr, presence, { unit: 'none' }, '{{instance}}')],
    'down',
  );
}

/** Which share of the chosen runs' measure phases the scrapes of each instance in the time range cover. */
export function runCovered(q: ServerQueries, ...presence: readonly string[]): Cell {
  const edge = (name: 'start' | 'end'): string =>
    `last_over_time(llmbench_run_phase_${name}_timestamp_seconds{${runMatcher(SELECTED_RUNS)},phase="measure"}[$__range]) > 0`;
  const [begin, end] = [`scalar(min(${edge('start')}))`, `scalar(max(${edge('end')}))`];
  const scrapes = `timestamp(${q.anyOf(presence)})[$__range:$scrape_interval]`;
  const first = `clamp_min(min by (instance) (min_over_time(${scrapes})), ${begin})`;
  const last = `clamp_max(max by (instance) (max_over_time(${scrapes})), ${end})`;
  // Of a run that lasts, the end is unknown: NaN, which the comparison leaves out.
  const expr = `clamp_min((${last} - ${first}) / (${end} - ${begin}), 0) >= 0`;
  return cell(
    'Covered',
    'share of the measure phase of the chosen runs, from the first to the last scrape of the server in the time range. Below 100 %, increases and ' +
      'percentiles over the time range lack a part of the run: choose a longer time range, or compare the exact figures of the ' +
      'run. Empty while it lasts.',
    [q.custom(expr, presence, { unit: 'percentunit' }, '{{instance}}')],
  );
}
