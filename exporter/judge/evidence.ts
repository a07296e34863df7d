import type { AutoregressiveShift } from '../../core/stats/autoregressive-shift.ts';
import type { Interval } from '../../core/stats/interval.ts';
import { rankPrediction, tPrediction, type Prediction } from '../../core/stats/prediction.ts';
import { difference, pairedShift, unpairedShift, type KnownInterval, type Shift } from '../../core/stats/shift.ts';
import { studentT, studentTTail } from '../../core/stats/student-t.ts';
import type { Figure, FigureKey } from './run-figures.ts';
import type { Method } from './verdict.ts';

/**
 * What the runs say of one figure, on the logarithm of the ratio B ÷ A and turned so that up is worse. Values known only
 * as intervals are inside: every end is that of the corner that supports it least.
 */
export interface Evidence {
  readonly method: Method;
  readonly estimate: KnownInterval;
  /** At a level: the chance that the truth is outside. */
  readonly interval: (level: number) => Interval;
  /** Two-sided, or for the worse where one run is judged. */
  readonly p: number;
  /** The level of the interval when it cannot be chosen; null when it can. */
  readonly level: number | null;
}

/** Runs from which ranks alone say that another is unusual: 1 ÷ (N + 1) is then at most 0.05. */
export const FEWEST_FOR_RANKS = 19;
/** Runs from which Student's t reports it. */
export const FEWEST_FOR_T = 5;
/** The chance with which one end of a prediction interval misses. */
export const PREDICTION_END = 0.05;

/** The logarithm of what is compared, up being worse; see `EffectRatio` for shares. */
export function worseUp({ measure, direction }: FigureKey, value: NonNullable<Figure['value']>): KnownInterval {
  const [low, high] = typeof value === 'number' ? [value, value] : value;
  if (SHARES_OF_FAILURE.has(measure)) return [-logarithm(1 - low), -logarithm(1 - high)];
  return direction === 'higher' ? [-logarithm(high), -logarithm(low)] : [logarithm(low), logarithm(high)];
}

/** Of these what is compared is the share that remains, because the share itself is usually 0. */
export const SHARES_OF_FAILURE: ReadonlySet<string> = new Set(['error_ratio', 'stall_ratio']);

/** Two zeros are equal, so zero has a finite logarithm: that of the smallest double, which no measured value reaches. */
const LOG_OF_ZERO = Math.log(Number.MIN_VALUE);

function logarithm(value: number): number {
  return Math.max(LOG_OF_ZERO, Math.log(value));
}

export function pairsEvidence(a: readonly KnownInterval[], b: readonly KnownInterval[]): Evidence {
  const differences = a.map((from, i) => difference(from, b[i] ?? [NaN, NaN]));
  const shift = pairedShift(differences);
  return ofShift(shift, shift.exact ? 'signed_rank_exact' : 'signed_rank_normal');
}

export function setsEvidence(a: readonly KnownInterval[], b: readonly KnownInterval[]): Evidence {
  const shift = unpairedShift(a, b);
  return ofShift(shift, shift.exact ? 'rank_sum_exact' : 'rank_sum_normal');
}

/**
 * The test on an estimated dependence rejects more often than its level, up to four times in simulations of 20 runs: it gets
 * a fifth of it.
 */
const CAUTION = 5;

/**
 * A shift of runs that follow a history and depend on the one before. `end`: the chance with which one end of the interval
 * misses, for a single run, which is judged for the worse only.
 */
export function autoregressiveEvidence(
  { estimate, standardError, degrees }: AutoregressiveShift,
  end: number | null,
): Evidence {
  const up = studentTTail(estimate / standardError, degrees);
  return {
    method: 'autoregression',
    estimate: [estimate, estimate],
    interval: (level) => {
      const reach = studentT(1 - (end === null ? level / CAUTION : level), degrees) * standardError;
      return [estimate - reach, estimate + reach];
    },
    p: end === null ? Math.min(1, CAUTION * 2 * Math.min(up, 1 - up)) : up,
    level: end === null ? null : 2 * end,
  };
}

/** One run against a history of at least `FEWEST_FOR_T` runs. */
export function predictionEvidence(history: readonly KnownInterval[], run: KnownInterval): Evidence {
  const ranks = history.length >= FEWEST_FOR_RANKS;
  const found: Prediction = ranks ? rankPrediction(history, run) : tPrediction(history, run, PREDICTION_END);
  return {
    method: ranks ? 'rank_prediction' : 't_prediction',
    estimate: found.estimate,
    interval: () => [...found.interval],
    p: found.p.up,
    level: 2 * found.end,
  };
}

function ofShift({ estimate, interval, p }: Shift, method: Method): Evidence {
  return { method, estimate, interval, p: p.twoSided, level: null };
}
