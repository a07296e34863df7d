import { studentT, studentTTail } from './distributions.ts';
import { median } from './percentiles.ts';
import type { Interval } from './shift.ts';
import { dot, whitened } from './trend.ts';

/** A mean, with all that could be the cause of it without a change. */
export interface CautiousMean {
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
    return part.reduce((sum, value) => sum + value, 0) / part.length;
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
  const mean = center(differences);
  const centers = days.map(center);
  const typical = centers.reduce((sum, value) => sum + value, 0) / centers.length;
  const degrees = centers.length - 1;
  const variance = centers.reduce((sum, value) => sum + (value - typical) ** 2, 0) / degrees;
  const standardError = Math.sqrt(2 * variance);
  return {
    chance: chanceOf(mean, standardError, degrees),
    interval: (end) => around(mean, standardError, degrees, end),
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
