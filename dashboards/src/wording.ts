import type { Histograms } from '../../prometheus/native-histograms.ts';

/** Of a whole run the bucket counts are true, so that the bucket bounds the percentile. */
const EXACT =
  'Exact, over the whole measure phase, once the run has ended and `llmbench serve` publishes its result. Until then, the ' +
  'bounds of the bucket that contains the percentile: at least, at most; beyond the last bound there is no "at most".';
export const WHOLE_RUN: Readonly<Record<Histograms, string>> = {
  classic: EXACT,
  either: `${EXACT} For a native histogram, an estimate by histogram_quantile.`,
};
/** Of a number that the result of a run has too. */
export const UNTIL_PUBLISHED =
  'From the result of the run. Until it is published, from counters, once the measure phase has ended.';
/** Rates are extrapolated, and then a bucket is no bound any more. */
export const OVER_TIME =
  'Each point is an estimate by histogram_quantile from rates over the window before it; its error has no guaranteed bound.';
/** A rate needs several scrapes, which a short run does not have. */
export const SHORT_RUN =
  'The rate is over four scrapes, so it is too low for a run that is not much longer. Its result above is exact.';
