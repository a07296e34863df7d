import type { PanelSpec } from './panel-spec.ts';
import { number } from './panel-spec.ts';
import type { ServerQueries } from './server-queries.ts';

/** Which of the targets that showed the family in the time range answered their last scrape in it. */
export function targetsUp(q: ServerQueries, presence: string): PanelSpec {
  const chosen = 'job=~"$job",instance=~"$instance"';
  const seen = `last_over_time(${q.selector(presence)}[$__range])`;
  // Servers that a benchmark finds are scraped as long as it lasts: of a past run, the last scrape is not at the end.
  const expr = `min by (instance) (last_over_time(up{${chosen}}[$__range]) and on (job, instance) ${seen})`;
  return number(
    'Targets up',
    '1: the last scrape in the time range was answered, 0: it was not. A target that is 0 has stopped or is too busy to ' +
      'answer: the other panels have a gap there, not a zero. A benchmark that has ended is no longer scraped, nor are the ' +
      'servers that only it has found.',
    [q.custom(expr, [presence], { unit: 'none' }, '{{instance}}')],
  );
}
