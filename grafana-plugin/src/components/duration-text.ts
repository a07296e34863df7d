import { ABSENT, quantity } from '../../../core/text/quantities.ts';

type Part = readonly [value: number, unit: string];

/** A duration as text: `47.2 s`, `3 min 20 s`, `50 min`, `2 h 5 min`. */
export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) {
    return ABSENT;
  }
  if (seconds < 60) {
    return quantity(seconds, 'seconds');
  }
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours > 0 ? parts([hours, 'h'], [minutes, 'min']) : parts([minutes, 'min'], [rest, 's']);
}

const parts = ([large, largeUnit]: Part, [small, smallUnit]: Part) =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
