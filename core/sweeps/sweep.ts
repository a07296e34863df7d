import { oldestFirst } from '../run/run-order.ts';
import { kneeOf } from './knee.ts';
import { loadWithinObjective } from './load-within-objective.ts';
import type { SweepRun } from './sweep-run.ts';
import type { Knee, Sweep, SweepSource, SweepStep } from './sweep-shape.ts';
import { sweepSteps } from './sweep-steps.ts';

/** A sweep and what it was made of, which identifies it. */
export interface KeyedSweep {
  readonly key: string;
  readonly sweep: Sweep;
}

/**
 * The sweeps among runs, the newest first: runs of a group with two loads or more, and runs of a scenario, of no such
 * group, with two loads or more. A group or scenario that varies anything else has a sweep for each variant.
 *
 * @param leastLoads 1: a group of repeats at one load is one as well
 */
export function sweepsOf(runs: readonly SweepRun[], leastLoads = 2): readonly KeyedSweep[] {
  const grouped = curves(runs, 'group', leastLoads, ({ group_id }) => group_id);
  const taken = new Set(grouped.flatMap(({ sweep }) => sweep.steps.flatMap((step) => step.runs.map(idOf))));
  const others = runs.filter((run) => !taken.has(run.run_id));
  const repeated = curves(others, 'scenario', leastLoads, ({ identity }) => identity.scenario);
  return [...grouped, ...repeated]
    .sort((a, b) => oldestFirst(b.oldest, a.oldest))
    .map(({ key, sweep }) => ({ key, sweep }));
}

const idOf = ({ run_id }: { readonly run_id: string }): string => run_id;

function curves(
  runs: readonly SweepRun[],
  kind: SweepSource['kind'],
  leastLoads: number,
  nameOf: (run: SweepRun) => string | null,
): (KeyedSweep & { readonly oldest: SweepRun })[] {
  const keyed = Map.groupBy(
    runs.filter((run) => nameOf(run) !== null),
    (run) => JSON.stringify([kind, nameOf(run), run.key]),
  );
  return [...keyed].flatMap(([key, same]) => {
    const [first] = same;
    const [oldest] = same.toSorted(oldestFirst);
    if (first === undefined || oldest === undefined || new Set(same.map(({ load }) => load.value)).size < leastLoads)
      return [];
    return [{ key, sweep: sweepOf(same, first, { kind, name: nameOf(first) ?? '' }), oldest }];
  });
}

function sweepOf(runs: readonly SweepRun[], first: SweepRun, source: SweepSource): Sweep {
  const steps = sweepSteps(runs);
  const counts = new Set(runs.filter(({ status }) => status === 'completed').map(({ gpus }) => gpus));
  const [gpus = null] = counts;
  return {
    source,
    ...first.identity,
    load_mode: first.load.mode,
    start: earliest(runs.map(({ start }) => start)),
    end: latest(runs.map(({ end }) => end)),
    gpus: counts.size === 1 ? gpus : null,
    goodput_limits: first.goodput_limits,
    steps,
    knee: kneeOfSteps(steps),
    within_objective: loadWithinObjective(steps),
  };
}

function kneeOfSteps(steps: readonly SweepStep[]): Knee | null {
  const figure = steps.some(({ values }) => values.output_token_throughput !== null)
    ? 'output_token_throughput'
    : 'request_throughput';
  const points = steps.flatMap(({ load, values }) => {
    const value = values[figure];
    return value === null ? [] : [{ x: load, y: value.mean }];
  });
  const place = kneeOf(points);
  const load = place === null ? undefined : points[place]?.x;
  return load === undefined ? null : { method: 'kneedle', figure, load };
}

/** Instants are RFC 3339 in UTC, so they sort as text. */
const earliest = (instants: readonly (string | null)[]): string | null => known(instants).sort()[0] ?? null;
const latest = (instants: readonly (string | null)[]): string | null => known(instants).sort().at(-1) ?? null;
const known = (instants: readonly (string | null)[]): string[] => instants.filter((instant) => instant !== null);
