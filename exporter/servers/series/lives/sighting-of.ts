import type { Proofs, Sighting } from '../../../../core/series/sighting.ts';
import { HistogramSeries } from '../series.ts';
import {
  earlierOf,
  fell,
  lastValueBefore,
  replacedAt,
  totalOf,
  wasMissing,
  type CumulativeSeries,
} from './cumulative-values.ts';

/** Numbers with fewer significant digits recur by chance in a restarted process, such as 209 requests or a sum of 7.1 s. */
const DIGITS_OF_DISTINCT_NUMBER = 4;

/** A series that both pages have, or only the newer one, and what they show of it. */
export interface SeenSeries {
  readonly series: CumulativeSeries;
  readonly sighting: Sighting;
}

/** Null: the series was not on the page before, or its successor with another grid is judged instead. */
export function sightingOf(series: CumulativeSeries, before: number, scrape: number, proofs: Proofs): Sighting | null {
  const earlier = earlierOf(series, scrape);
  const then = earlier.knownAt(before);
  if (then < 0) return null;
  // Whether it began anew was decided on a page that had no number for it.
  const decided = Math.max(earlier.anewAt.at(-1) ?? -1, earlier.unclearAt.at(-1) ?? -1);
  if (earlier.isUnknownAt(before) && decided > earlier.scrapeOf(then)) return null;
  const now = series.changeAt(scrape);
  const common = { counted: totalOf(earlier, then) > 0, stood: false, ...proofs, family: series.family.name };
  if (series.hasValueAt(scrape)) {
    const stood = earlier === series && then === now && isDistinct(series, now);
    return { ...common, stood, step: fell(earlier, then, series, now) ? 'fell' : 'continued' };
  }
  if (!series.isMissing) return null;
  return replacedAt(series, scrape) ? null : { ...common, step: 'vanished' };
}

/** Of a series that the page before lacks. */
export const appearance = (series: CumulativeSeries, proofs: Proofs): Sighting => ({
  step: 'appeared',
  counted: false,
  stood: false,
  ...proofs,
  family: series.family.name,
});

/** Of a series that was missing and returns, compared with its last value; null: it does not return. */
export function returnOf(series: CumulativeSeries, scrape: number, proofs: Proofs): Sighting | null {
  const last = lastValueBefore(series, scrape);
  if (last === null || !wasMissing(series, scrape) || !series.hasValueAt(scrape)) return null;
  const earlier = earlierOf(series, scrape);
  const step = fell(earlier, last, series, series.changeAt(scrape)) ? 'fell' : 'continued';
  return { step, counted: totalOf(earlier, last) > 0, stood: false, ...proofs, family: series.family.name };
}

/** Whether a restarted process is unlikely to show exactly this number. */
function isDistinct(series: CumulativeSeries, change: number): boolean {
  const numbers =
    series instanceof HistogramSeries ? [series.total(change), series.sum(change)] : [series.value(change)];
  return numbers.some((value) => significantDigits(value) >= DIGITS_OF_DISTINCT_NUMBER);
}

/** Without trailing zeros, and without the rounding of a sum: 10.299999999999999 has three. */
function significantDigits(value: number): number {
  const [mantissa = ''] = Number(Math.abs(value).toPrecision(12)).toExponential().split('e');
  return mantissa.replace('.', '').length;
}
