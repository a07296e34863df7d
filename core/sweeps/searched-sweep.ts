import type { CapacityFile } from '../run/capacity.ts';
import type { ObjectiveVerdict } from '../run/objectives.ts';
import type { Sweep } from './sweep-shape.ts';

type Capacity = Pick<CapacityFile, 'load' | 'holds' | 'fails' | 'confirmed' | 'confidence' | 'end'>;

/**
 * The probes of a search as a sweep whose objectives are judged as the search judged them: it leaves out the first requests
 * of each probe and repeats what one probe does not decide. A search without a capacity changes nothing.
 */
export function searchedSweep<S extends Sweep>(sweep: S, capacity: Capacity): S {
  const { load: mode, holds, fails, confirmed, confidence, end } = capacity;
  if (mode !== sweep.load_mode || (holds === null && fails === null)) return sweep;
  const monotonic = end !== 'not_monotonic';
  const objectiveAt = (load: number): ObjectiveVerdict => {
    if (holds !== null && load <= holds) return 'met';
    return fails !== null && load >= fails ? 'not_met' : 'undecided';
  };
  return {
    ...sweep,
    // Above the failing load of a server that is not monotonic each load has its own verdict.
    steps: monotonic ? sweep.steps.map((step) => ({ ...step, objective: objectiveAt(step.load) })) : sweep.steps,
    within_objective: { holds, fails, monotonic, ...(confirmed ? { confidence } : {}) },
  };
}
