import { significant } from './quantities.ts';

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
