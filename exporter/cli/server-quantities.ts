import { ABSENT, quantity } from '../../core/measures/quantities.ts';
import { things } from '../../core/measures/things.ts';

/** A value in the unit of its family; null: there is none. */
export function inUnit(value: number | null, unit: string | null): string {
  if (value === null) return ABSENT;
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return things(value, unit === null || unit === 'count' ? '' : unit).trimEnd();
}
