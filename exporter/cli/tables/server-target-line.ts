import { quantity } from '../../../core/text/quantities.ts';
import type { ServerTarget } from '../../../core/run/result.ts';
import { things } from '../../../core/text/things.ts';

const STATES: Readonly<Record<ServerTarget['state'], string>> = {
  waiting: 'no response',
  up: 'up',
  gone: 'gone',
  not_metrics: 'not metrics',
  several_servers: 'several servers',
};

/** How a target was collected, on a line. */
export function targetLine(target: ServerTarget): string {
  const {
    system,
    state,
    scrapes,
    failed_scrapes: failed,
    scrape_duration_seconds: { p50, p99 },
  } = target;
  const durations = scrapes === 0 ? '' : `, p50 ${quantity(p50, 'seconds')}, p99 ${quantity(p99, 'seconds')}`;
  return (
    `${target.target}  ${system ?? 'unknown system'}  ${STATES[state]}  ` +
    `${things(scrapes, 'scrapes')}, ${failed} failed${durations}`
  );
}
