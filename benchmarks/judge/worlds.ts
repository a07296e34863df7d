import type { Stat } from '../../core/api/verdict.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import type { Rules } from '../../exporter/judge/rules.ts';
import type { Figure, RunFigures } from '../../exporter/judge/run-figures.ts';

/** How the logarithms of a measure vary from run to run when nothing changes; mean 0, standard deviation 1. */
export interface World {
  readonly name: string;
  /** A series of runs, one value after the other; `day` is the day on which the run is made. */
  start(random: Random): (day: number) => number;
}

export const INDEPENDENT: World = { name: 'independent', start: (random) => () => normal(random) };
export const HEAVY_TAILED: World = { name: 'heavy-tailed', start: (random) => () => heavyTailed(random) };
export const AUTOREGRESSION_5 = autoregression(0.5);
export const WEEKLY: World = {
  name: 'weekly cycle',
  start: (random) => {
    const phase = random() * 7;
    // Half of the variance is the cycle: an amplitude of 1 has variance 1/2.
    return (day) => Math.sin((2 * Math.PI * (day + phase)) / 7) + Math.SQRT1_2 * normal(random);
  },
};
/** The level moves by a tenth of the scatter from run to run, for good. */
export const WALK: World = {
  name: 'random walk',
  start: (random) => {
    let level = 0;
    return () => (level += normal(random) / 10) + normal(random);
  },
};

export const AUTOREGRESSION_7 = autoregression(0.7);

export const WORLDS: readonly World[] = [INDEPENDENT, autoregression(0.3), AUTOREGRESSION_7, HEAVY_TAILED, WEEKLY];

export function worldNamed(name: string): World {
  const found = WORLDS.find((world) => world.name === name);
  if (found === undefined) throw new RangeError(`there is no world ${name}`);
  return found;
}

/** A world in which some runs are disturbed. */
export interface Machine {
  readonly name: string;
  readonly world: World;
  /** Share of the runs that are 1.4 times as slow for reasons of their own. */
  readonly bad: number;
}

/** In which pipelines check every night. */
export const MACHINES: readonly Machine[] = [
  { name: 'independent', world: INDEPENDENT, bad: 0 },
  { name: 'heavy tails', world: HEAVY_TAILED, bad: 0 },
  { name: '5 % of runs 1.4 times as slow', world: INDEPENDENT, bad: 0.05 },
  { name: 'AR(1) ρ = 0.5', world: AUTOREGRESSION_5, bad: 0 },
  { name: 'random walk', world: WALK, bad: 0 },
  { name: 'weekly cycle', world: WEEKLY, bad: 0 },
];

export function machineNamed(name: string): Machine {
  const found = MACHINES.find((machine) => machine.name === name);
  if (found === undefined) throw new RangeError(`there is no machine ${name}`);
  return found;
}

/** Each run depends on the one before, whenever it is made. */
function autoregression(rho: number): World {
  return {
    name: `AR(1) ρ = ${rho}`,
    start: (random) => {
      let value = normal(random);
      const own = Math.sqrt(1 - rho ** 2);
      return () => {
        const now = value;
        value = rho * value + own * normal(random);
        return now;
      };
    },
  };
}

/** Box and Muller's transformation. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Student's t with 3 degrees of freedom, which has variance 3, made 1. */
function heavyTailed(random: Random): number {
  const chiSquared = normal(random) ** 2 + normal(random) ** 2 + normal(random) ** 2;
  return normal(random) / Math.sqrt(chiSquared);
}

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

/** Wilson's 95 % interval of a share. */
export function wilson(successes: number, n: number): readonly [low: number, high: number] {
  const z = 1.96;
  const share = successes / n;
  const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const reach = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

export function percent(share: number): string {
  return `${Number((100 * share).toFixed(2))} %`;
}

/** A share with its interval and the number of what it is of. */
export function shareText(successes: number, n: number): string {
  const [low, high] = wilson(successes, n);
  return `${percent(successes / n)} (95 %: ${percent(low)} to ${percent(high)}, n = ${n})`;
}

/** The mean, and its standard error from the scatter of independent values. */
export function meanWithError(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}
