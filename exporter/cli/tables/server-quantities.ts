import { ABSENT, quantity } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';

/** A value in the unit of its family; null without a value. */
export function inUnit(value: number | null, unit: string | null): string {
  if (value === null) return ABSENT;
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return things(value, unit === null || unit === 'count' ? '' : unit).trimEnd();
}
