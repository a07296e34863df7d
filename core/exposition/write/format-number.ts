/**
 * A value as Go's shortest form `%g` writes it, which Prometheus' own libraries use and all its parsers read:
 * `1`, `0.005`, `1e+06`, `1.5e-05`, `+Inf`, `-Inf`, `NaN`. It reads back as the same double.
 */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/**
 * The canonical form of OpenMetrics for `le` and `quantile`: as `formatNumber`, and with `.0` when that looks like an
 * integer: `1.0`, `1e+06`, `+Inf`.
 */
export function formatCanonicalNumber(value: number): string {
  const text = formatNumber(value);
  return /^-?[0-9]+$/.test(text) ? `${text}.0` : text;
}
