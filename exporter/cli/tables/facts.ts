import { wrapped } from '../../../core/text/wrapped.ts';
import { PLAIN, type Paint } from '../verdict-colors.ts';

/** Width of the names before the values. */
const NAME_WIDTH = 12;
const MIN_TEXT = 40;
const JOINT = '\u00a0';

/** How facts and tables are printed. */
export interface Print {
  /** Characters of a line; infinite: lines are not broken. */
  readonly width: number;
  readonly paint: Paint;
}

export const TO_FILE: Print = { width: Infinity, paint: PLAIN };

/** A fact as `name        text`; a long text goes on below its beginning, not below its name. */
export function factLines(name: string, text: string, width = Infinity): string[] {
  // A number stays with its unit.
  const joined = text.replace(/(?<=\d) (?=\p{L}|%)/gu, JOINT);
  const lines = wrapped(joined, Math.max(MIN_TEXT, width - NAME_WIDTH)).map((line) => line.replaceAll(JOINT, ' '));
  return lines.map((line, i) => `${(i === 0 ? name : '').padEnd(NAME_WIDTH)}${line.trim()}`.trimEnd());
}

/** A fact whose text begins with a verdict, followed by `more`. */
export function verdictLines(name: string, verdict: string, more: string, { width, paint }: Print): string[] {
  const [first = '', ...others] = factLines(name, `${verdict}${more}`, width);
  const [before, after] = [first.slice(0, NAME_WIDTH), first.slice(NAME_WIDTH + verdict.length)];
  return [`${before}${paint(verdict)}${after}`, ...others];
}
