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
  documents_per_second: 'documents/s',
  images: 'images',
  images_per_second: 'images/s',
  bytes: 'bytes',
  joules: 'J',
  watts: 'W',
  joules_per_token: 'J/token',
  cost_per_million_tokens: 'per million tokens',
};

/** Units whose name is another for exactly one. */
const ONE: Partial<typeof SUFFIX> = { tokens: 'token', requests: 'request', images: 'image', bytes: 'byte' };

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

/** Differences of floating-point numbers that are whole but for their last digits. */
const NEARLY_WHOLE = 1e-6;

/** A number with what is counted, which is given in the plural: `1 request`, `2,000 requests`, `1 family`. */
export function things(count: number, plural: string): string {
  const whole = Math.round(count);
  const exact = Math.abs(count - whole) < NEARLY_WHOLE ? whole : count;
  return `${significant(exact)} ${exact === 1 ? singular(plural) : plural}`;
}

function singular(plural: string): string {
  if (plural === 'celsius' || plural === 'series') return plural;
  return plural
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss)es$/, '$1')
    .replace(/(?<!s)s$/, '');
}

/** At most so many names, and how many more there are: `a, b and 3 more`. Empty for none. */
export function firstNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

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

/** An amount of money, as `2.50 EUR`. */
export function moneyText(amount: number, currency: string | null): string {
  return currency === null ? significant(amount) : `${significant(amount)} ${currency}`;
}

/** The interval (low, high] of a percentile; infinite ends are null. */
interface IntervalFigures {
  readonly low: number | null;
  readonly high: number | null;
  /** In the family's unit; null where an end is infinite. */
  readonly width: number | null;
}

/** `20.0 – 40.0 ms`, `> 10 s`, `≤ 0 s`, or `= 2 tokens` where only one value is possible. `unit` as in the catalog. */
export function bucketIntervalText({ low, high, width }: IntervalFigures, unit: string | null): string {
  if (high === null) return `> ${familyValueText(low ?? 0, unit)}`;
  if (low === null) return `≤ ${familyValueText(high, unit)}`;
  if (width === 0) return `= ${familyValueText(high, unit)}`;
  if (unit === 'seconds' || unit === 'ratio') return quantityRange([low, high], unit);
  return `${significant(low)} – ${familyValueText(high, unit)}`;
}

/** A value in the unit of its family. */
export function familyValueText(value: number, unit: string | null): string {
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return things(value, unit === null || unit === 'count' ? '' : unit.replaceAll('_', ' ')).trimEnd();
}
