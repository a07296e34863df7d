import { ABSENT, quantity } from '../../../core/text/quantities.ts';

/** A duration as text: `47.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) {
    return ABSENT;
  }
  if (seconds < 60) {
    return quantity(seconds, 'seconds');
  }
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${rest} s`;
}
