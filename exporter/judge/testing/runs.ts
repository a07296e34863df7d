import type { Unit } from '../../../core/run/statistic.ts';
import type { Figure, RunFigures } from '../run-figures.ts';
import type { Stat } from '../../../core/api/verdict.ts';
import { directionOf, type Rules } from '../rules.ts';

export const TTFT = 'time_to_first_token';

/** Rules under which one measure gates, at a margin of 5 %. */
export const ONE: Rules = { primary: [{ measure: TTFT, stat: 'p50' }], margin: 0.05, margins: {}, alpha: 0.05 };

/** The same with five, all of which `runsOf` gives the same value. */
export const FIVE: Rules = {
  ...ONE,
  primary: (['mean', 'p10', 'p25', 'p50', 'p75'] as const).map((stat) => ({ measure: TTFT, stat })),
};

export function figure(measure: string, stat: Stat, value: Figure['value']): Figure {
  const unit: Unit = measure.endsWith('_ratio')
    ? 'ratio'
    : measure.includes('throughput')
      ? 'tokens_per_second'
      : 'seconds';
  const direction = directionOf(measure);
  return {
    ...{ measure, stat, unit, definition: 'd', origin: 'client', population: 'ok', clock: 'sent', direction },
    ...{ value, ci95: null, n: null, effective_n: null },
  };
}

/** A run on the n-th day. */
export function run(run_id: string, figures: readonly Figure[], day = 0): RunFigures {
  return {
    run_id,
    start: new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString(),
    scenario: 'nightly',
    fingerprint: 'f',
    load: { input_tokens: 100, output_tokens: 50, cached_input_ratio: 0.5, request_rate: null },
    client: 'ok',
    foreign_traffic: false,
    figures,
  };
}

/** Runs on days from `day`, whose every statistic of the time to first token that the rules above name is the value. */
export function runsOf(name: string, values: readonly number[], day = 0): readonly RunFigures[] {
  const stats = FIVE.primary.map(({ stat }) => stat);
  return values.map((value, i) =>
    run(
      `${name}${i}`,
      stats.map((stat) => figure(TTFT, stat, value)),
      day + i,
    ),
  );
}
