import {
  difference,
  pairedShift,
  unpairedShift,
  type Interval,
  type KnownInterval,
  type Shift,
} from '../../core/stats/shift.ts';
import {
  chanceOf,
  changeInterval,
  detectableShift,
  LOOKS,
  lookAt,
  lookLevel,
  MAX_LOOK,
  MIN_LOOK,
  type RunLook,
  type Reference,
} from '../../core/stats/robust-shift.ts';
import type { Figure } from './run-figures.ts';
import type { FigureKey, Method } from '../../core/api/verdict.ts';

/**
 * What the runs say of one figure, on the logarithm of the ratio B ÷ A and turned so that up is worse. Values known only
 * as intervals are inside: every end is that of the corner that supports it least.
 */
export interface Evidence {
  readonly method: Method;
  readonly estimate: KnownInterval;
  /** At a level: the chance that the truth is outside. */
  readonly interval: (level: number) => Interval;
  /** Two-sided. */
  readonly p: number;
  /** What the runs after a history have besides; null for pairs and sets. */
  readonly history: HistoryEvidence | null;
}

export interface HistoryEvidence {
  /** How many of the last runs the evidence is of. */
  readonly runs: number;
  /** Which way the runs changed, if that is excluded to be chance at a level: 1 is worse. */
  readonly direction: (level: number) => 1 | 0 | -1;
  /** The smallest change of the judged runs that would have been seen at a level. */
  readonly detectable: (level: number) => number;
  /** The newest run alone. */
  readonly newest: RunLook;
}

/** The newest run alone is unusual: one run in a hundred like the history is. */
export const UNUSUAL = 0.01;

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
 * The runs after a history, oldest first: the look that shows a change best, if one does at the level of a check; the newest run if it
 * is unusual for the worse by at least the margin; else all of the last eight.
 */
export function historyEvidence(
  reference: Reference,
  after: readonly KnownInterval[],
  { level, margin }: { readonly level: number; readonly margin: number },
): Evidence {
  const last = (k: number): RunLook => lookAt(reference, after.slice(-k));
  const newest = last(1);
  const looks = LOOKS.filter((k) => k <= after.length).map(last);
  const all = last(Math.min(after.length, MAX_LOOK));
  const [best] = looks.toSorted((x, y) => chanceOf(x) - chanceOf(y));
  const found = best !== undefined && chanceOf(best) <= level ? best : null;
  const suspicion = newest.up <= UNUSUAL && newest.estimate[0] >= margin ? newest : null;
  const shown = found ?? suspicion ?? all;
  const p = best === undefined ? 1 : chanceOf(best);
  return {
    method: 'robust_shift',
    estimate: shown.estimate,
    interval: (within) => changeInterval(reference, shown, within),
    p,
    history: {
      runs: shown.k,
      direction: (at) => (found === null || p > at ? 0 : found.up < found.down ? 1 : -1),
      detectable: (at) =>
        all.k < MIN_LOOK
          ? detectableShift(reference, 1, UNUSUAL)
          : detectableShift(reference, all.k, lookLevel(all.k, at)),
      newest,
    },
  };
}

function ofShift({ estimate, interval, p }: Shift, method: Method): Evidence {
  return { method, estimate, interval, p: p.twoSided, history: null };
}

/** From the scale of the evidence, a logarithm where up is worse, to the ratio B ÷ A; see `EffectRatio`. */
export function effectRatio(key: FigureKey, worse: number): number {
  const log = lowerIsWorse(key) ? -worse : worse;
  if (Math.abs(log) > MAX_LOG_RATIO) return log > 0 ? Infinity : 0;
  return Math.exp(log);
}

/** The smallest change that could have been seen, as a ratio above 0; null when nothing could. */
export function detectableRatio(worse: number | null): number | null {
  return worse === null || worse > MAX_LOG_RATIO ? null : Math.expm1(worse);
}

/** Measured values differ by far less. What is beyond comes from a value of 0, whose logarithm stands for −∞. */
const MAX_LOG_RATIO = Math.log(1e15);

/** Whether the ratio falls when things get worse. */
export function lowerIsWorse({ measure, direction }: Pick<FigureKey, 'measure' | 'direction'>): boolean {
  return direction === 'higher' || SHARES_OF_FAILURE.has(measure);
}
