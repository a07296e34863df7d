import { SHARES_OF_FAILURE } from './evidence.ts';
import type { FigureKey } from '../../core/api/verdict.ts';

/** From the scale of the evidence, a logarithm where up is worse, to the ratio B ÷ A; see `EffectRatio`. */
export function effectRatio(key: FigureKey, worse: number): number {
  const log = lowerIsWorse(key) ? -worse : worse;
  if (Math.abs(log) > MAX_LOG_RATIO) return log > 0 ? Infinity : 0;
  return Math.exp(log);
}

/** The smallest change that could have been seen, as a ratio above 0; null when nothing could. */
export function detectableRatio(worse: number | null): number | null {
  return worse === null || worse > MAX_LOG_RATIO ? null : Math.expm1(worse);
}

/** Measured values differ by far less. What is beyond comes from a value of 0, whose logarithm stands for −∞. */
const MAX_LOG_RATIO = Math.log(1e15);

/** Whether the ratio falls when things get worse. */
export function lowerIsWorse({ measure, direction }: Pick<FigureKey, 'measure' | 'direction'>): boolean {
  return direction === 'higher' || SHARES_OF_FAILURE.has(measure);
}
