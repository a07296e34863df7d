import type { Sweep } from './sweep-shape.ts';

/** A sweep without the values of its steps. */
export type SweepSummary<S extends Sweep = Sweep> = Omit<S, 'steps' | 'goodput_limits'> & {
  /** Ascending. */
  readonly loads: number[];
  readonly runs: number;
  readonly has_objectives: boolean;
  readonly has_goodput: boolean;
};

/** What a list of sweeps shows. */
export function sweepSummary<S extends Sweep>({ steps, goodput_limits, ...sweep }: S): SweepSummary<S> {
  return {
    ...sweep,
    loads: steps.map(({ load }) => load),
    runs: steps.reduce((sum, step) => sum + step.runs.length, 0),
    has_objectives: steps.some(({ objective }) => objective !== null),
    has_goodput: goodput_limits.length > 0,
  };
}
