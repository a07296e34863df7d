import { normalCdf, studentTTail } from './distributions.ts';
import type { Interval } from './shift.ts';

/** Whether a series rises, and by how much. */
export interface Trend {
  /** Median change from one value to the next (Theil 1950, Sen 1968); 0 with fewer than two values. */
  readonly slope: number;
  /** Probability of a series that rises so consistently if there is no trend: one-sided; 1 with fewer than two values. */
  readonly p: number;
}

/**
 * Tests a series of independent values for a rise, whatever their distribution: Mann's test (Econometrica 13, 1945) with
 * Kendall's correction for ties, normal approximation with continuity correction, and the Theil–Sen slope. O(n²).
 */
export function risingTrend(values: readonly number[]): Trend {
  const n = values.length;
  const slopes: number[] = [];
  let score = 0;
  for (let j = 1; j < n; j++) {
    for (let i = 0; i < j; i++) {
      const change = (values[j] ?? NaN) - (values[i] ?? NaN);
      score += Math.sign(change);
      slopes.push(change / (j - i));
    }
  }
  if (slopes.length === 0) return { slope: 0, p: 1 };
  const variance = (n * (n - 1) * (2 * n + 5) - tieCorrection(values)) / 18;
  const z = variance > 0 ? (score - Math.sign(score)) / Math.sqrt(variance) : 0;
  return { slope: median(slopes), p: normalCdf(-z) };
}

function tieCorrection(values: readonly number[]): number {
  const sizes = [...Map.groupBy(values, (value) => value).values()].map(({ length }) => length);
  return sizes.reduce((sum, size) => sum + size * (size - 1) * (2 * size + 5), 0);
}

function median(values: number[]): number {
  values.sort((a, b) => a - b);
  const middle = (values.length - 1) / 2;
  return ((values[Math.floor(middle)] ?? NaN) + (values[Math.ceil(middle)] ?? NaN)) / 2;
}

/** What a series of values in the order of time says of the shift between two sets of them, whatever else moved it. */
export interface OrderedShift {
  /** The probability that the shift is below this. */
  readonly below: (shift: number) => number;
  /** The shift is beyond each end with this probability. */
  readonly interval: (end: number) => Interval;
}

/** How much a value may depend on the one before: nothing is assumed of it. */
const DEPENDENCES = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/** A trend is expected until the series speak against it. */
const TREND_EXPECTED = 0.8;
/** The standard deviation of slopes that are expected, from one value to the next, in standard deviations of the values. */
const SLOPE = 0.5;
/** Measures of the same runs move together: the more of them, the fewer are evidence of their own. */
const MAX_INDEPENDENT = 2;
/** Below this share of the squares of a series its residuals are rounding. */
const ROUNDING = 1e-24;

/** A linear model of a series, with what does not depend on the values. */
interface Model {
  readonly dependence: number;
  readonly columns: readonly (readonly number[])[];
  readonly inverse: readonly (readonly number[])[];
  /** Logarithm of its probability before the series. */
  readonly prior: number;
  /** Logarithm of what its likelihood has beside the residuals. */
  readonly constant: number;
}

interface Fit {
  readonly estimate: number;
  readonly standardError: number;
  readonly likelihood: number;
}

/**
 * The shifts between the values of two sets in series that are in the order of time, one of each measure of the same runs.
 * Models with and without a linear trend and with any dependence on the value before (an autoregression of first order) are
 * averaged by how well they explain the series without the shift (Hoeting and others, Statistical Science 14, 1999): generalized least
 * squares by the transformation of Prais and Winsten (1954), residual likelihood (Harville, 1974), flat priors of both
 * levels, a normal prior of the slope. Two sets that follow each other differ by their shift or by the trend, and the less
 * the series say of the trend, the wider is the interval; in interleaved sets it costs next to nothing.
 *
 * @param second whether a value is of the second set; both sets and at least three values are needed
 */
export function orderedShifts(
  series: readonly (readonly number[])[],
  second: readonly boolean[],
): readonly OrderedShift[] {
  const models = modelsOf(second);
  const degrees = second.length - 2;
  const fits = series.map((values) => models.map((model) => fitOf(model, values, degrees)));
  const weights = weightsOf(
    models,
    fits.filter((of) => of.every(({ likelihood }) => Number.isFinite(likelihood))),
  );
  return fits.map((of) => {
    const below = (shift: number): number =>
      of.reduce((sum, fit, i) => sum + (weights[i] ?? 0) * tailBelow(fit, shift, degrees), 0);
    return { below, interval: (end) => [whereBelow(below, of, end), whereBelow(below, of, 1 - end)] };
  });
}

function modelsOf(second: readonly boolean[]): readonly Model[] {
  const n = second.length;
  const level = second.map(() => 1);
  const shift = second.map((is) => (is ? 1 : 0));
  const time = second.map((_, i) => i - (n - 1) / 2);
  return DEPENDENCES.flatMap((dependence) => {
    const own = Math.sqrt(1 - dependence ** 2);
    const white = [level, shift, time].map((column) => whitened(column, dependence));
    // The prior of the slope is one more observation of it, in units of what is new in a value.
    const expected = own / SLOPE;
    const withPrior = white.map((column, i) => [...column, i === 2 ? expected : 0]);
    return [
      { ...modelOf(dependence, white.slice(0, 2), own), prior: Math.log(1 - TREND_EXPECTED) },
      { ...modelOf(dependence, withPrior, own * expected), prior: Math.log(TREND_EXPECTED) },
    ];
  });
}

function modelOf(dependence: number, columns: readonly (readonly number[])[], density: number): Omit<Model, 'prior'> {
  const { inverse, logDeterminant } = inverted(columns.map((x) => columns.map((y) => dot(x, y))));
  return { dependence, columns, inverse, constant: Math.log(density) - logDeterminant / 2 };
}

function fitOf({ dependence, columns, inverse, constant }: Model, values: readonly number[], degrees: number): Fit {
  // The observation that the prior stands for is 0.
  const y = [...whitened(values, dependence), 0].slice(0, columns[0]?.length);
  const products = columns.map((column) => dot(column, y));
  const coefficients = inverse.map((row) => dot(row, products));
  const squares = y.reduce((sum, value, i) => {
    const fitted = columns.reduce((all, column, j) => all + (column[i] ?? NaN) * (coefficients[j] ?? NaN), 0);
    return sum + (value - fitted) ** 2;
  }, 0);
  const isExact = squares <= ROUNDING * dot(y, y);
  return {
    estimate: coefficients[1] ?? NaN,
    standardError: isExact ? 0 : Math.sqrt(((inverse[1]?.[1] ?? NaN) * squares) / degrees),
    likelihood: isExact ? Infinity : constant - (degrees / 2) * Math.log(squares),
  };
}

/** How probable each model is after all series; before them where none says anything. */
function weightsOf(models: readonly Model[], fits: readonly (readonly Fit[])[]): readonly number[] {
  const independent = Math.min(MAX_INDEPENDENT, fits.length);
  const logs = models.map(({ prior }, i) => {
    const mean = fits.reduce((sum, of) => sum + (of[i]?.likelihood ?? NaN), 0) / Math.max(1, fits.length);
    return prior + independent * mean;
  });
  const best = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - best));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** P(shift < this) of one fit. */
function tailBelow({ estimate, standardError }: Fit, shift: number, degrees: number): number {
  if (standardError === 0) return shift > estimate ? 1 : shift < estimate ? 0 : 0.5;
  return studentTTail((estimate - shift) / standardError, degrees);
}

/** The shift that the truth is below with this probability, by bisection. */
function whereBelow(below: (shift: number) => number, fits: readonly Fit[], probability: number): number {
  const estimates = fits.map(({ estimate }) => estimate);
  let low = Math.min(...estimates);
  let high = Math.max(...estimates);
  let reach = Math.max(...fits.map(({ standardError }) => standardError), high - low);
  for (; reach > 0 && below(low) > probability; reach *= 2) low -= reach;
  for (; reach > 0 && below(high) < probability; reach *= 2) high += reach;
  for (let i = 0; i < 60 && low < high; i++) {
    const middle = (low + high) / 2;
    if (below(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** By Gauss and Jordan; of positive definite matrices, which need no exchange of rows. */
function inverted(matrix: readonly (readonly number[])[]): {
  readonly inverse: readonly (readonly number[])[];
  readonly logDeterminant: number;
} {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  let logDeterminant = 0;
  for (const [i, row] of rows.entries()) {
    const pivot = row[i] ?? NaN;
    logDeterminant += Math.log(pivot);
    row.forEach((value, j) => (row[j] = value / pivot));
    for (const other of rows.filter((each) => each !== row)) {
      const factor = other[i] ?? NaN;
      other.forEach((value, j) => (other[j] = value - factor * (row[j] ?? NaN)));
    }
  }
  return { inverse: rows.map((row) => row.slice(n)), logDeterminant };
}

/** Independent if the values depend on each other so: the first as it is, of the others what is new. */
export function whitened(values: readonly number[], rho: number): readonly number[] {
  return values.map((value, i) => (i === 0 ? Math.sqrt(1 - rho ** 2) * value : value - rho * (values[i - 1] ?? NaN)));
}

/** Over the places of the first. */
export function dot(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, value, i) => sum + value * (y[i] ?? NaN), 0);
}
