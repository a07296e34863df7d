import type { LoadWithinObjective, SweepStep } from './sweep-shape.ts';

/** Null without objectives. `steps` by ascending load. */
export function loadWithinObjective(
  steps: readonly Pick<SweepStep, 'load' | 'objective'>[],
): LoadWithinObjective | null {
  if (steps.every(({ objective }) => objective === null)) return null;
  const fails = steps.find(({ objective }) => objective === 'not_met')?.load ?? null;
  const met = steps.filter(({ objective }) => objective === 'met').map(({ load }) => load);
  return {
    holds: met.findLast((load) => fails === null || load < fails) ?? null,
    fails,
    monotonic: fails === null || met.every((load) => load < fails),
  };
}
