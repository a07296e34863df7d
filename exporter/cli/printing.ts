import type { Print } from './tables/facts.ts';
import { paintOn } from './verdict-colors.ts';

/** How the result is printed on standard output: a terminal has a width and may have colors. */
export function printing(): Print {
  return { width: process.stdout.columns ?? Infinity, paint: paintOn(process.stdout) };
}
