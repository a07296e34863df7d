/** A ratio as a change, e.g. `+12.3 %`; above ten as a factor. */
export function changeText(ratio: number): string {
  if (ratio === Infinity) return '+∞';
  if (ratio > 10) return `×${Number(ratio.toPrecision(2))}`;
  const percent = (ratio - 1) * 100;
  const size = percentText(Math.abs(percent) / 100);
  // What rounds to nothing has no sign.
  return size === NO_CHANGE ? size : `${percent < 0 ? '−' : '+'}${size}`;
}

/** With one decimal, small ones with two. */
export function percentText(ratio: number): string {
  const percent = ratio * 100;
  return `${percent.toFixed(percent < 0.095 ? 2 : 1).replace(/\.0+$/, '')} %`;
}

const NO_CHANGE = '0 %';
