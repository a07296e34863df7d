import type { MeasureResponse } from '../../../../core/api/comparison.ts';

/** An axis of ratios B ÷ A, symmetric about no change on the logarithmic scale, on which doubling and halving are equally far. */
export interface EffectAxis {
  /** The largest ratio; the smallest is its reciprocal. */
  most: number;
  ticks: number[];
}

/** Changes for a person to read off, as shares of A. */
const STEPS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 9, 99];
/** Ends of intervals beyond this factor are cut off, so that one wide interval does not hide the others. */
const MAX_SHOWN = 2;
/** Effects that are all smaller do not fill the axis. */
const MIN_SHOWN = 0.01;
const ROOM = 1.15;
/** A tick nearer to the end than this share of the half axis has no place for its text. */
const TICK_ROOM = 0.85;

/** The axis for these effects: all estimates and margins are on it, and interval ends up to a factor of two. */
export function effectAxis(measures: ReadonlyArray<Pick<MeasureResponse, 'effect' | 'margin'>>): EffectAxis {
  const reaches = measures.flatMap(({ effect, margin }) => [
    2 * Math.log1p(margin),
    ...(effect === null
      ? []
      : [
          distance(effect.estimate),
          ...[effect.low, effect.high].map(distance).filter((reach) => reach <= Math.log(MAX_SHOWN)),
        ]),
  ]);
  const half = ROOM * Math.max(Math.log1p(MIN_SHOWN), ...reaches.filter(Number.isFinite));
  const step = STEPS.filter((change) => -Math.log(fall(change)) <= TICK_ROOM * half).at(-1);
  return { most: Math.exp(half), ticks: step === undefined ? [1] : [fall(step), 1, 1 + step] };
}

/** A fall by the same share as the rise; of rises to the double and more, the reciprocal. */
function fall(rise: number): number {
  return rise < 1 ? 1 - rise : 1 / (1 + rise);
}

function distance(ratio: number | null): number {
  return ratio === null ? Infinity : Math.abs(Math.log(ratio));
}

/** Where a ratio is on the axis, from 0 at the left end to 1 at the right one; beyond them where it is off the axis. */
export function placeOf({ most }: EffectAxis, ratio: number): number {
  return (Math.log(ratio) / Math.log(most) + 1) / 2;
}
