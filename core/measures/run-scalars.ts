import { COST_MEASURES } from './cost-results.ts';
import { ENERGY_MEASURES } from './energy-results.ts';
import { GOODPUT_MEASURES } from './goodput.ts';
import type { ScalarMeasure } from './measures.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

/** Every measure of a run that is one number: of its requests, of its goodput, of the GPUs' energy and of their cost. */
export const RUN_SCALARS: readonly ScalarMeasure[] = [
  SCALAR_MEASURES,
  GOODPUT_MEASURES,
  ENERGY_MEASURES,
  COST_MEASURES,
].flatMap((measures) => Object.values<ScalarMeasure>(measures));
