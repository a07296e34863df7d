import type { CompareResponse, MeasureResponse } from '../../../../core/api/comparison.ts';

/** Measures beside those that decide, unless all are shown. */
const MAX_OTHERS = 8;

/** The measures that decide, and of the others over ok requests those with the smallest q. */
export function notableMeasures({ measures }: Pick<CompareResponse, 'measures'>): MeasureResponse[] {
  const others = measures.filter(({ gating, population, effect }) => !gating && population === 'ok' && effect !== null);
  const notable = [...others].sort((x, y) => (x.p?.adjusted ?? 1) - (y.p?.adjusted ?? 1)).slice(0, MAX_OTHERS);
  return [...measures.filter(({ gating }) => gating), ...notable];
}
