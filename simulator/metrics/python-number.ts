/**
 * A sample value or bucket bound as the Python client writes it (`prometheus_client.utils.floatToGoString`): always
 * a float (`1.0`), an exponent from a million up (`1.5e+06`), Python's `repr` below a ten-thousandth (`5e-05`).
 */
export function pythonNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = pythonRepr(value);
  const dot = text.indexOf('.');
  if (value <= 0 || dot <= 6) return text;
  const mantissa = `${text[0]}.${text.slice(1, dot)}${text.slice(dot + 1)}`.replace(/[0.]+$/, '');
  return `${mantissa}e+${String(dot - 1).padStart(2, '0')}`;
}

/** `repr` of a Python float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16. */
function pythonRepr(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
