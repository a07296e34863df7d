import type { PanelSpec } from './panel-spec.ts';
import { number } from './panel-spec.ts';
import type { ServerQueries } from './server-queries.ts';

/** Which of the targets that showed the family in the time range answer their scrapes. */
export function targetsUp(q: ServerQueries, presence: string): PanelSpec {
  const chosen = 'job=~"$job",instance=~"$instance"';
  const seen = `last_over_time(${q.selector(presence)}[$__range])`;
  const expr = `min by (instance) (up{${chosen}} and on (job, instance) ${seen})`;
  return number(
    'Targets up',
    '1: the last scrape was answered, 0: it was not. A target that was up in the time range and is 0 now has stopped or ' +
      'is too busy to answer: the other panels have a gap there, not a zero.',
    [q.custom(expr, [presence], { unit: 'none' }, '{{instance}}')],
  );
}
