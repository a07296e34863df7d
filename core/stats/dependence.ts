/**
 * The deviations of finite values from their mean. Counted from the first value, so that equal values deviate by
 * exactly 0 and not by the rounding of their sum. They are written into `deviations`, which is as long as the values.
 */
export function centered(values: Float64Array, deviations = new Float64Array(values.length)): Float64Array {
  const origin = values[0] ?? NaN;
  let sum = 0;
  for (const value of values) sum += value - origin;
  const mean = sum / values.length;
  for (let i = 0; i < values.length; i++) deviations[i] = (values[i] ?? NaN) - origin - mean;
  return deviations;
}

/** How strongly the values of a series depend on those shortly before. */
export interface Dependence {
  /** Best length of the blocks of a circular or moving-block bootstrap, at least 1. */
  blockLength: number;
  /** Number of independent values whose mean would vary as much as this series' mean; 1 to n. */
  effectiveSampleSize: number;
}

/**
 * Measures the dependence in a series of finite values.
 *
 * Block length: Politis and White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews
 * 23 (2004), with the correction of Patton, Politis and White (2009), circular bootstrap: lags that matter are found
 * with their rule of consecutive insignificant autocorrelations, and the covariances weighted by the flat-top window.
 * Effective sample size: n R(0) / g(0), g(0) being the sum of the same weighted covariances over all lags; never above
 * n, although values that alternate could justify it. Where that sum is not positive, or autocorrelations stay
 * significant to the end of the search: not above what overlapping batch means give, and the longest block.
 *
 * @param scratch is overwritten; as long as the series
 */
export function dependence(series: Float64Array, scratch = new Float64Array(series.length)): Dependence {
  const n = series.length;
  const covariance = remembered(centered(series, scratch));
  const variance = covariance(0);
  const longest = Math.max(1, Math.ceil(Math.min(3 * Math.sqrt(n), n / 3)));
  if (!(variance > 0)) return { blockLength: 1, effectiveSampleSize: n };
  const last = lastSignificantLag(n, covariance);
  const window = Math.min(2 * last, longestLag(n));
  let spectrum = variance;
  let slope = 0;
  for (let lag = 1; lag <= window; lag++) {
    const weighted = flatTop(lag / window) * covariance(lag);
    spectrum += 2 * weighted;
    slope += 2 * lag * weighted;
  }
  const effectiveSampleSize = Math.min(n, Math.max(1, (n * variance) / spectrum));
  // Cycles make the estimate of the positive spectrum negative, or stay significant as far as the rule looks: it then
  // says nothing of what lies beyond, and independence must not be read from it.
  if (!(spectrum > 0) || last + stretchLength(n) > longestLag(n)) {
    const byBatches = n < 4 ? n : batchDependence(series, scratch).effectiveSampleSize;
    return {
      blockLength: longest,
      effectiveSampleSize: spectrum > 0 ? Math.min(byBatches, effectiveSampleSize) : byBatches,
    };
  }
  const length = Math.cbrt(((2 * slope ** 2) / ((4 / 3) * spectrum ** 2)) * n);
  return { blockLength: Math.min(longest, Math.max(1, Math.round(length))), effectiveSampleSize };
}

/** The autocovariances of a series, each calculated once. */
function remembered(deviations: Float64Array): (lag: number) => number {
  const known: number[] = [];
  return (lag) => (known[lag] ??= autocovariance(deviations, lag));
}

/**
 * Autocovariance of a series at a lag: the mean product of deviations from the series' mean, divided by n (the biased
 * estimate, which keeps spectral estimates from going negative). `deviations` are the values less their mean.
 */
function autocovariance(deviations: Float64Array, lag: number): number {
  let sum = 0;
  for (let i = lag; i < deviations.length; i++) sum += (deviations[i] ?? NaN) * (deviations[i - lag] ?? NaN);
  return sum / deviations.length;
}

/** Autocorrelations in a row that must be insignificant before the search for significant ones ends. */
function stretchLength(n: number): number {
  return Math.max(5, Math.ceil(Math.sqrt(Math.log10(n))));
}

function longestLag(n: number): number {
  return Math.min(n - 1, Math.ceil(Math.sqrt(n)) + stretchLength(n));
}

/** The last lag before a stretch of autocorrelations below 2 sqrt(log10(n) / n): the paper's m-hat, but at least 1. */
function lastSignificantLag(n: number, covariance: (lag: number) => number): number {
  const threshold = 2 * Math.sqrt(Math.log10(n) / n) * covariance(0);
  let last = 0;
  for (let lag = 1; lag <= longestLag(n); lag++) {
    if (Math.abs(covariance(lag)) >= threshold) last = lag;
    else if (lag - last >= stretchLength(n)) break;
  }
  return Math.max(1, last);
}

/** Flat-top lag window of Politis and Romano: 1 up to one half, then falling to 0 at 1. */
function flatTop(x: number): number {
  return x <= 0.5 ? 1 : Math.max(0, 2 * (1 - x));
}

/**
 * Measures the dependence in a long series of finite values (at least 4) from its overlapping batch means, in one pass:
 * blocks of floor(sqrt n) values (Flegal and Jones, Annals of Statistics 38, 2010).
 *
 * @param scratch is overwritten; as long as the series
 */
export function batchDependence(series: Float64Array, scratch = new Float64Array(series.length)): Dependence {
  const n = series.length;
  const blockLength = Math.floor(Math.sqrt(n));
  const deviations = centered(series, scratch);
  const variance = autocovariance(deviations, 0);
  const longRun = longRunVariance(deviations, blockLength);
  const effective = longRun > 0 ? (n * variance) / longRun : n;
  return { blockLength, effectiveSampleSize: Math.min(n, Math.max(1, effective)) };
}

/**
 * n times the variance of the mean of a series: Meketon and Schmeiser's estimate (1984), the variance of the moving-block
 * bootstrap's mean without drawing it. `blockLength` is below the number of values.
 */
export function longRunVariance(deviations: Float64Array, blockLength: number): number {
  const n = deviations.length;
  let block = 0;
  let squares = 0;
  for (let i = 0; i < n; i++) {
    block += (deviations[i] ?? NaN) - (i >= blockLength ? (deviations[i - blockLength] ?? NaN) : 0);
    if (i >= blockLength - 1) squares += block * block;
  }
  return (n * squares) / (blockLength * (n - blockLength) * (n - blockLength + 1));
}
