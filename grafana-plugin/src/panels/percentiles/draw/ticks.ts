/** Round values (1, 2, 2.5 or 5 times a power of ten apart) within the domain, about `count` of them. */
export function valueTicks([low, high]: readonly [number, number], count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) {
    return [low];
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten, or the powers alone where those are too many. */
export function logTicks([low, high]: readonly [number, number], count: number): number[] {
  const powers: number[] = [];
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.log10(high); exponent++) {
    powers.push(exponent);
  }
  const within = (factors: readonly number[]) =>
    powers
      .flatMap((exponent) => factors.map((factor) => Number(`${factor}e${exponent}`)))
      .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  const all = within([1, 2, 5]);
  return all.length <= Math.max(3, count) ? all : within([1]);
}
