/** A mapping from values to pixels. */
export interface Scale {
  (value: number): number;
  /** The value at a pixel. */
  invert(pixel: number): number;
  readonly domain: readonly [number, number];
  readonly range: readonly [number, number];
}

export function linearScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [d0, d1] = domain;
  const [r0, r1] = range;
  const slope = d1 === d0 ? 0 : (r1 - r0) / (d1 - d0);
  const scale = (value: number) => r0 + (value - d0) * slope;
  const invert = (pixel: number) => (slope === 0 ? d0 : d0 + (pixel - r0) / slope);
  return Object.assign(scale, { invert, domain, range });
}

/** Equal ratios are equally far apart. The domain is above 0; values at or below 0 are drawn at the start of the domain. */
export function logScale(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [d0] = domain;
  const linear = linearScale([Math.log(d0), Math.log(domain[1])], range);
  const scale = (value: number) => linear(Math.log(Math.max(d0, value)));
  const invert = (pixel: number) => Math.exp(linear.invert(pixel));
  return Object.assign(scale, { invert, domain, range });
}
