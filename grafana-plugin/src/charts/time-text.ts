import { quantity, ABSENT } from '../../../core/text/quantities.ts';

/** Seconds on the axis of a run: `40 s`, `2:05`, `1:00:00`. */
export function secondsText(seconds: number): string {
  const sign = seconds < 0 ? '−' : '';
  const size = Math.abs(seconds);
  if (size < 60) {
    return `${sign}${Number(size.toPrecision(3))} s`;
  }
  const whole = Math.round(size);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return `${sign}${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(rest)}`;
}

export function percentText(share: number): string {
  return quantity(share, 'ratio');
}

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
