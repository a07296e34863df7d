import { SHARES_OF_FAILURE } from './evidence.ts';
import type { FigureKey } from './run-figures.ts';

/** From the scale of the evidence, a logarithm where up is worse, to the ratio B ÷ A; see `EffectRatio`. */
export function effectRatio(key: FigureKey, worse: number): number {
  return Math.exp(lowerIsWorse(key) ? -worse : worse);
}

/** Whether the ratio falls when things get worse. */
export function lowerIsWorse({ measure, direction }: FigureKey): boolean {
  return direction === 'higher' || SHARES_OF_FAILURE.has(measure);
}
