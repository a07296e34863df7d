import type { ComparisonOperator } from '../run/objectives.ts';

/** Whether a value is on the right side of a limit. */
export function keeps(comparison: ComparisonOperator, value: number, limit: number): boolean {
  switch (comparison) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
  }
}
