import { ABSENT, quantity, significant } from '../../core/measures/quantities.ts';

/** Differences of floating-point numbers that are whole but for their last digits. */
const NEARLY_WHOLE = 1e-6;

/** A number with its unit, which is given in the plural: `1 request`, `2 requests`. */
export function counted(value: number, unit: string): string {
  const whole = Math.round(value);
  const exact = Math.abs(value - whole) < NEARLY_WHOLE ? whole : value;
  return `${significant(exact)} ${exact === 1 ? singular(unit) : unit}`;
}

/** A value in the unit of its family; null: there is none. */
export function inUnit(value: number | null, unit: string | null): string {
  if (value === null) return ABSENT;
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return counted(value, unit === null || unit === 'count' ? '' : unit).trimEnd();
}

function singular(unit: string): string {
  if (unit === 'celsius') return unit;
  return unit
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss)es$/, '$1')
    .replace(/(?<!s)s$/, '');
}
