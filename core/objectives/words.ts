import { shortTitle } from '../measures/names.ts';
import type { Slo } from '../run/objectives.ts';

/** An objective in a few words: `TTFT p99 <= 500 ms`. */
export function sloWords({ measure, stat, comparison, limit, unit }: Slo): string {
  const amount =
    unit === 'seconds'
      ? limit < 1
        ? `${Number((limit * 1000).toPrecision(6))} ms`
        : `${limit} s`
      : unit === 'ratio'
        ? `${Number((limit * 100).toPrecision(6))} %`
        : String(limit);
  return [shortTitle(measure, stat), comparison, amount].join(' ');
}
