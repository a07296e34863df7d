import { changeText, percentText, ABSENT } from '../../../../core/text/quantities.ts';
import type { MeasureResponse } from '../../../../core/api/comparison.ts';

type Effect = MeasureResponse['effect'];

/** The estimated change of B against A: `+12.3 %`. */
export function effectText(effect: Effect): string {
  return effect === null ? ABSENT : changeText(effect.estimate ?? Infinity);
}

/** The interval of the change: `+8.1 % to +16 %`; absent where the runs leave everything open. */
export function intervalText(effect: Effect): string {
  if (effect === null || (effect.low === 0 && effect.high === null)) {
    return ABSENT;
  }
  return `${changeText(effect.low ?? Infinity)} to ${changeText(effect.high ?? Infinity)}`;
}

export function marginText(margin: number): string {
  return `±${percentText(margin)}`;
}
