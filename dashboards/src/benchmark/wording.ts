/** Of a whole run the bucket counts are true, so that the bucket bounds the percentile. */
export const WHOLE_RUN =
  'Over the whole measure phase, estimated by histogram_quantile: the true value lies in the same bucket.';
/** Rates are extrapolated, and then a bucket is no bound any more. */
export const OVER_TIME =
  'Over the window before each point, estimated by histogram_quantile from rates: no bound is promised.';
