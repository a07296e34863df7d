import type { Unit } from '../run/statistic.ts';

/** What stands where there is no value: never 0. */
export const ABSENT = '–';

/** A quantity for people: three significant digits, the unit scaled (seconds to ms or µs). */
export function quantity(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return ABSENT;
  if (unit === 'seconds') return duration(value);
  if (unit === 'ratio') return `${significant(value * 100)} %`;
  return `${significant(value)} ${(value === 1 && ONE[unit]) || SUFFIX[unit]}`;
}

/** Two quantities as `344 – 377 ms`: the unit is said once when it is the same. */
export function quantityRange([low, high]: readonly [low: number, high: number], unit: Unit): string {
  const [from, to] = [quantity(low, unit), quantity(high, unit)];
  const suffix = / \D+$/.exec(to)?.[0] ?? '';
  return `${suffix !== '' && from.endsWith(suffix) ? from.slice(0, -suffix.length) : from} – ${to}`;
}

/** A quantity at an axis: without the zeros that only show precision. */
export function tickText(value: number, unit: Unit): string {
  if (value === 0) return '0';
  return quantity(value, unit)
    .replace(/(\.\d*?)0+(?=\D|$)/, '$1')
    .replace(/\.(?=\D|$)/, '');
}

const SUFFIX: Readonly<Record<Exclude<Unit, 'seconds' | 'ratio'>, string>> = {
  tokens: 'tokens',
  requests: 'requests',
  requests_per_second: 'requests/s',
  tokens_per_second: 'tokens/s',
  joules: 'J',
  watts: 'W',
  joules_per_token: 'J/token',
  cost_per_million_tokens: 'per million tokens',
};

/** Units whose name is another for exactly one. */
const ONE: Partial<typeof SUFFIX> = { tokens: 'token', requests: 'request' };

function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size >= 1) return `${significant(seconds)} s`;
  if (size >= 1e-3 || size === 0) return `${significant(seconds * 1e3)} ms`;
  return `${significant(seconds * 1e6)} µs`;
}

/** A number of values for people. */
export function counted(n: number | null | undefined): string {
  return n === null || n === undefined ? ABSENT : significant(n);
}

/** Three significant digits, and all digits of whole numbers with a separator of thousands. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  const digits =
    size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size === 0 ? 0 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  return Number.isInteger(value) ? String(value) : value.toFixed(digits);
}
