import type { Random } from '../../core/stats/seeded-random.ts';

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
