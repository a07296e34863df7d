import { compare } from '../judge/compare.ts';
import { refusal } from '../judge/compare-stored.ts';
import { figuresOfRun } from '../judge/figures-of-run.ts';
import { parseRules, rulesFor } from '../judge/rule-choices.ts';
import type { Judgment } from '../../core/api/verdict.ts';
import type { StoredRun } from './stored-runs.ts';

/** How two sets of runs are judged; the grammar is that of `llmbench compare`. */
export interface ComparisonOptions {
  /** a[i] and b[i] are a pair: measured one right after the other, with the same plan. */
  readonly paired?: boolean;
  /** Scenarios with different names may be compared, such as those of two engines; the load has to be the same. */
  readonly acrossScenarios?: boolean;
  /** Measures that decide the verdict, at most five: `time_to_first_token:p90`. Default: those of `llmbench compare`. */
  readonly gate?: readonly string[];
  /** Smallest change that matters in percent, for all measures (`'3'`) or for one (`'time_to_first_token:p50=3'`). */
  readonly margin?: readonly string[];
}

/**
 * Judges the runs of `b` against those of `a`, as `llmbench compare` does. The unit of evidence is a run: one run on each
 * side is always undecided. Throws a `RangeError` when a set is empty or the sets do not fit together, and a `RuleError`
 * for a wrong `gate` or `margin`.
 */
export function compareRuns(
  a: readonly Pick<StoredRun, 'run' | 'result'>[],
  b: readonly Pick<StoredRun, 'run' | 'result'>[],
  { paired = false, acrossScenarios = false, gate = [], margin = [] }: ComparisonOptions = {},
): Judgment {
  const figuresA = a.map(({ run, result }) => figuresOfRun(run, result));
  const figuresB = b.map(({ run, result }) => figuresOfRun(run, result));
  const refused = refusal({ a: figuresA, b: figuresB, paired });
  if (refused !== null) throw new RangeError(refused);
  const rules = rulesFor(parseRules({ gate, margin }), [...figuresA, ...figuresB]);
  return compare(figuresA, figuresB, { paired, rules, accepted: acrossScenarios ? 'scenarios' : 'none' });
}
