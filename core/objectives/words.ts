import { shortTitle } from '../measures/names.ts';
import type { Objective } from '../run/objectives.ts';
import type { Unit } from '../run/statistic.ts';

/** An objective in a few words: `TTFT p99 <= 500 ms`. */
export function objectiveWords({ measure, stat, comparison, limit, unit }: Objective): string {
  return [shortTitle(measure, stat), comparison, limitText(limit, unit)].join(' ');
}

function limitText(limit: number, unit: Unit): string {
  const scaledBy = (scale: number): number => Number((limit * scale).toPrecision(6));
  if (unit === 'seconds') return limit < 1 ? `${scaledBy(1000)} ms` : `${limit} s`;
  return unit === 'ratio' ? `${scaledBy(100)} %` : String(limit);
}
