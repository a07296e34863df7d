import { studentT, studentTTail } from './distributions.ts';
import { mean, median } from './percentiles.ts';
import type { Interval } from './shift.ts';
import { dot, whitened } from './trend.ts';

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
interface Dependence {
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

/** A mean, with all that could be the cause of it without a change. */
interface CautiousMean {
  /** The chance of a mean as far from 0, on its side, if the true one is 0: at most 1/2. */
  readonly chance: number;
  /** The true mean is beyond each end with at most this probability. */
  readonly interval: (end: number) => Interval;
}

/** How much a value may depend on the one before. */
const DEPENDENCES = [0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95];
/** Chance from value to value hides the dependence of what lasts: of more values, neighbors are joined. */
const MAX_VALUES = 36;
/** Divided by the square of the number of values, the share of the best likelihood below which a dependence is excluded. */
const UNLIKELY = 8;
/** Below this share of the squares of a series its residuals are rounding. */
const ROUNDING = 1e-24;

interface Fit {
  readonly mean: number;
  readonly standardError: number;
  readonly logLikelihood: number;
}

/**
 * The mean of values in the order of time, of which each may depend on the one before (an autoregression of first order). A few values
 * say little of their dependence, and estimates of it are too low: the least certain of all dependences that the values do
 * not exclude counts, a set by the residual likelihood (the procedure of Berger and Boos, Journal of the American
 * Statistical Association 89, 1994). Generalized least squares by the transformation of Prais and Winsten (1954).
 * At least two values are needed.
 */
export function dependentMean(values: readonly number[]): CautiousMean {
  const series = joined(values);
  const degrees = series.length - 1;
  const fits = DEPENDENCES.map((dependence) => fitOf(series, dependence));
  const best = Math.max(...fits.map(({ logLikelihood }) => logLikelihood));
  const limit = best + Math.log(UNLIKELY / series.length ** 2);
  const likely = fits.filter(({ logLikelihood }) => logLikelihood >= Math.min(best, limit));
  return {
    chance: Math.max(...likely.map(({ mean, standardError }) => chanceOf(mean, standardError, degrees))),
    interval: (end) => {
      const ends = likely.map(({ mean, standardError }) => around(mean, standardError, degrees, end));
      return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
    },
  };
}

/** The means of neighbors, which stand for as many values each as possible alike. */
function joined(values: readonly number[]): readonly number[] {
  const each = Math.ceil(values.length / MAX_VALUES);
  const count = Math.floor(values.length / each);
  return Array.from({ length: count }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / count), Math.floor(((i + 1) * values.length) / count));
    return mean(part);
  });
}

function fitOf(values: readonly number[], dependence: number): Fit {
  const level = whitened(Array<number>(values.length).fill(1), dependence);
  const y = whitened(values, dependence);
  const weight = dot(level, level);
  const mean = dot(level, y) / weight;
  const squares = y.reduce((sum, value, i) => sum + (value - mean * (level[i] ?? NaN)) ** 2, 0);
  const degrees = values.length - 1;
  const isExact = squares <= ROUNDING * dot(y, y);
  return {
    mean,
    standardError: isExact ? 0 : Math.sqrt(squares / degrees / weight),
    logLikelihood: isExact
      ? Infinity
      : (Math.log(1 - dependence ** 2) - Math.log(weight) - degrees * Math.log(squares)) / 2,
  };
}

/**
 * The mean of differences between two servers, A and B, in slices of one day, by how much that of A alone varies from day to day
 * without a change. If both vary alike and independently of each other, their difference has twice the variance; nothing is
 * assumed of the dependence within a day. Center of each day: the Hodges–Lehmann estimate, in which single slices count
 * little; Student's t with one degree of freedom less than days.
 *
 * @param days the values of A in the same slices of at least two other days
 */
export function meanBesideDays(differences: readonly number[], days: readonly (readonly number[])[]): CautiousMean {
  const shift = center(differences);
  const centers = days.map(center);
  const typical = mean(centers);
  const degrees = centers.length - 1;
  const variance = centers.reduce((sum, value) => sum + (value - typical) ** 2, 0) / degrees;
  const standardError = Math.sqrt(2 * variance);
  return {
    chance: chanceOf(shift, standardError, degrees),
    interval: (end) => around(shift, standardError, degrees, end),
  };
}

/** The median of the means of all pairs of values, also of each with itself. */
function center(values: readonly number[]): number {
  return median(values.flatMap((value, i) => values.slice(i).map((other) => (value + other) / 2)));
}

function chanceOf(mean: number, standardError: number, degrees: number): number {
  if (standardError === 0) return mean === 0 ? 0.5 : 0;
  return studentTTail(Math.abs(mean) / standardError, degrees);
}

function around(mean: number, standardError: number, degrees: number, end: number): Interval {
  const reach = standardError === 0 ? 0 : standardError * studentT(1 - 2 * end, degrees);
  return [mean - reach, mean + reach];
}
