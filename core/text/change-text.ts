/** A ratio as a change, e.g. `+12.3 %`; above ten as a factor. */
export function changeText(ratio: number): string {
  if (ratio === Infinity) return '+∞';
  if (ratio > 10) return `×${Number(ratio.toPrecision(2))}`;
  if (ratio === 1) return '0 %';
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '−' : '+'}${percentText(Math.abs(percent) / 100)}`;
}

export function percentText(ratio: number): string {
  const percent = ratio * 100;
  return `${percent.toFixed(percent !== 0 && percent < 0.1 ? 2 : 1).replace(/\.0$/, '')} %`;
}
