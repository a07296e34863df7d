import { quantity } from '../../../core/text/quantities.ts';

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
