import type { Histograms } from '../native/histograms.ts';

/** Of a whole run the bucket counts are true, so that the bucket bounds the percentile. */
const EXACT =
  'Exact, over the whole measure phase, once the run has ended and `llmbench serve` publishes its result. Until then the ' +
  'bucket in which the percentile lies: at least, at most; no "at most" beyond the last bucket bound.';
export const WHOLE_RUN: Readonly<Record<Histograms, string>> = {
  classic: EXACT,
  either: `${EXACT} Of a native histogram an estimate by histogram_quantile.`,
};
/** Of a number that the result of a run has too. */
export const UNTIL_PUBLISHED =
  'Of the result of the run; from counters, as soon as the measure phase has ended, as long as no result is published.';
/** Rates are extrapolated, and then a bucket is no bound any more. */
export const OVER_TIME =
  'Over the window before each point, estimated by histogram_quantile from rates: no bound is promised.';
/** A rate needs several scrapes, which a short run does not have. */
export const SHORT_RUN =
  'A run that is hardly longer than the window of the rate, four scrapes, is drawn too low: see its result above.';
