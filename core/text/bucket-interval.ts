import { quantity, quantityRange, significant } from './quantities.ts';
import { things } from './things.ts';

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
