import type { Slo } from '../run/gates.ts';

const SHORT: Readonly<Record<string, string>> = {
  time_to_first_token: 'TTFT',
  inter_token_latency: 'ITL',
};

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
  const name = SHORT[measure] ?? measure.replaceAll('_', ' ');
  return [name, ...(stat === null ? [] : [stat.replace('_', '.')]), comparison, amount].join(' ');
}
