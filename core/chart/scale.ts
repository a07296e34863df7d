/** A mapping from values to pixels. */
export interface Scale {
  (value: number): number;
  /** The value at a pixel. */
  invert(pixel: number): number;
  readonly domain: readonly [number, number];
  readonly range: readonly [number, number];
  readonly isLog: boolean;
}

type Ends = readonly [number, number];

export function linearScale(domain: Ends, range: Ends): Scale {
  const [d0, d1] = domain;
  const [r0, r1] = range;
  const slope = d1 === d0 ? 0 : (r1 - r0) / (d1 - d0);
  const scale = (value: number): number => r0 + (value - d0) * slope;
  const invert = (pixel: number): number => (slope === 0 ? d0 : d0 + (pixel - r0) / slope);
  return Object.assign(scale, { invert, domain, range, isLog: false });
}

/** Equal ratios are equally far apart. The domain is above 0; values at or below 0 are drawn at the start of the domain. */
export function logScale(domain: Ends, range: Ends): Scale {
  const [d0] = domain;
  const linear = linearScale([Math.log(d0), Math.log(domain[1])], range);
  const scale = (value: number): number => linear(Math.log(Math.max(d0, value)));
  const invert = (pixel: number): number => Math.exp(linear.invert(pixel));
  return Object.assign(scale, { invert, domain, range, isLog: true });
}

/** Round values (1, 2, 2.5 or 5 times a power of ten apart) within the domain, about `count` of them. */
export function valueTicks([low, high]: Ends, count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const step = roundStep(rough);
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
}

/** Ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten, or the powers alone where those are too many. */
export function logTicks([low, high]: Ends, count: number): number[] {
  const all = oneTwoFive(low, high).filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  return all.length <= Math.max(3, count) ? all : all.filter((value) => value.toExponential().startsWith('1e'));
}

/** 1, 2 and 5 times the powers of ten, from the last at or below `low` to the first at or above `high`: at least two. */
function oneTwoFive(low: number, high: number): number[] {
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)) - 1; 10 ** power <= high * 10; power++) {
    all.push(...[1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
  }
  const first = all.findLastIndex((value) => value <= low * (1 + 1e-9));
  const last = all.findIndex((value) => value >= high * (1 - 1e-9));
  return all.slice(first, Math.max(last, first + 1) + 1);
}

/** Labeled values of a scale, about `count` of them. */
export function ticksOf({ domain, isLog }: Scale, count: number): number[] {
  return (isLog ? logTicks : valueTicks)(domain, count);
}

/**
 * From 0 to a round value at or above the values; or, where the largest is more than `logFrom` times the smallest above 0,
 * logarithmic over whole steps of 1, 2 and 5.
 */
export function fittedScale(values: readonly number[], range: Ends, ticks: number, logFrom = Infinity): Scale {
  const high = values.reduce((most, value) => Math.max(most, value), 0);
  const low = values.reduce((least, value) => (value > 0 && value < least ? value : least), Infinity);
  if (high / low > logFrom) {
    const steps = oneTwoFive(low, high);
    return logScale([steps[0] ?? low, steps.at(-1) ?? high], range);
  }
  if (!(high > 0)) return linearScale([0, 1], range);
  const step = roundStep(high / ticks);
  return linearScale([0, Number((Math.ceil(high / step - 1e-9) * step).toPrecision(12))], range);
}
