import type { Random } from '../../core/stats/seeded-random.ts';
import type { Rules } from '../../exporter/judge/rules.ts';
import type { Figure, RunFigures } from '../../exporter/judge/run-figures.ts';
import type { Stat } from '../../core/api/verdict.ts';
import type { World } from './worlds.ts';

/** The margin, as a ratio. */
export const MARGIN = 0.05;
/** Share of the variance that the measures of a run have in common. */
const COMMON = 0.5;
const STATS: readonly Stat[] = ['mean', 'p50', 'p75', 'p90', 'p25'];

export const RULES: Rules = {
  primary: STATS.map((stat) => ({ measure: 'request_latency', stat })),
  margin: MARGIN,
  margins: {},
  alpha: 0.05,
};

/** One run of a simulated history: five latencies around 1. */
export type Values = readonly number[];

/** Makes runs: of the scatter as a share of the margin, and of how many margins slower the first measure is. */
export function runMaker(world: World, random: Random, scatter: number): (day: number, slower?: number) => Values {
  const common = world.start(random);
  const own = STATS.map(() => world.start(random));
  const margin = Math.log1p(MARGIN);
  return (day, slower = 0) => {
    const shared = Math.sqrt(COMMON) * common(day);
    return own.map((value, i) =>
      Math.exp(margin * (scatter * (shared + Math.sqrt(1 - COMMON) * value(day)) + (i === 0 ? slower : 0))),
    );
  };
}

/** What the judge reads of a run. */
export function figuresOf(values: Values, place: number): RunFigures {
  return {
    run_id: `r${place}`,
    start: new Date(Date.UTC(2026, 0, 1) + place * 60_000).toISOString(),
    scenario: 'simulated',
    fingerprint: 'f',
    load: { input_tokens: null, output_tokens: null, cached_input_ratio: null, request_rate: null },
    client: 'ok',
    foreign_traffic: false,
    figures: values.map((value, i): Figure => ({
      ...{ measure: 'request_latency', stat: STATS[i] ?? 'mean', unit: 'seconds', definition: 'd', origin: 'client' },
      ...{ population: 'ok', clock: 'sent', direction: 'lower', value, ci95: null, n: null, effective_n: null },
    })),
  };
}
