/** Maps values of a domain onto the positions of an axis. */
export interface Scale {
  readonly kind: 'linear' | 'log';
  readonly low: number;
  readonly high: number;
  /** Values at which the axis is labeled, ascending, within the domain. */
  readonly ticks: readonly number[];
  /** The position of a value; values outside are clamped to the edge. */
  readonly at: (value: number) => number;
}

/** From 0, or `low`, to a round value at or above `high`. `from` and `to` are the positions of the two ends. */
export function linearScale(
  [low, high]: readonly [low: number, high: number],
  [from, to]: readonly [from: number, to: number],
  ticksWanted: number,
  round = true,
): Scale {
  const span = high > low ? high - low : 1;
  const step = niceStep(span / ticksWanted);
  const top = round ? Math.ceil((low + span) / step - 1e-9) * step : low + span;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(top / step + 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  return {
    kind: 'linear',
    low,
    high: top,
    ticks,
    at: (value) => from + (clamped(value, low, top) - low) * ((to - from) / (top - low)),
  };
}

/** Over the whole steps 1, 2, 5 × 10^n around a domain above 0. */
export function logScale(
  [low, high]: readonly [low: number, high: number],
  [from, to]: readonly [from: number, to: number],
): Scale {
  const steps = oneTwoFive(low, high);
  const bottom = steps[0] ?? low;
  const top = steps.at(-1) ?? high;
  const ratio = Math.log(top / bottom);
  const whole = steps.filter((value) => /^[^1-9]*1[^1-9]*$/.test(value.toPrecision(3).replace(/e.*/, '')));
  return {
    kind: 'log',
    low: bottom,
    high: top,
    ticks: steps.length > 9 ? whole : steps,
    at: (value) => from + (Math.log(clamped(value, bottom, top) / bottom) / ratio) * (to - from),
  };
}

/** The values 1, 2, 5 × 10^n from the last at or below `low` to the first at or above `high`: at least two. */
function oneTwoFive(low: number, high: number): number[] {
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)) - 1; 10 ** power <= high * 10; power++) {
    for (const digit of [1, 2, 5]) all.push(Number(`${digit}e${power}`));
  }
  const first = all.findLastIndex((value) => value <= low * (1 + 1e-9));
  const last = all.findIndex((value) => value >= high * (1 - 1e-9));
  return all.slice(first, Math.max(last, first + 1) + 1);
}

/** 1, 2 or 5 × 10^n, the first that is not smaller. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return power * ([1, 2, 5].find((digit) => digit * power >= least * (1 - 1e-9)) ?? 10);
}

function clamped(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
