import { holmLevels } from '../../core/stats/multiple-testing.ts';
import { orderedShifts } from '../../core/stats/trend.ts';
import { things } from '../../core/text/quantities.ts';
import { casesOf, keyText, type FigureCase } from './cases.ts';
import type { Doubt } from './judge-cases.ts';
import type { Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import type { PreflightFinding } from '../../core/api/verdict.ts';

/**
 * The chance that a trend or a dependence of the runs is taken for a change of any gating measure. With it at most 2 of 100
 * comparisons in which nothing changed report one in every simulated world (`npm run bench -- judge`).
 */
const LEVEL = 0.008;
/** Ranks alone decide nothing with fewer runs. */
const MIN_RUNS = 4;

/**
 * By `keyText`, what a change must reach before it is no trend and no dependence between runs, where the runs of two sets
 * follow each other in time. Nothing where they interleave, which makes both cancel, or where the times are not known.
 */
export function orderDoubts(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  rules: Rules,
): ReadonlyMap<string, Doubt> {
  const order = timeOrder(a, b);
  if (order === null || order.length < MIN_RUNS || isInterleaved(order, a.length, b.length)) return new Map();
  const usable = casesOf(a, b, rules).filter((each) => each.problem === null && seriesOf(each, order) !== null);
  const doubts = [true, false].flatMap((gates) =>
    doubtsOf(
      usable.filter(({ place }) => gates === place >= 0),
      order,
      gates,
    ),
  );
  return new Map(doubts);
}

/** That a trend between the sets could not be seen, because nothing says when some runs were made. */
export function unknownOrder(a: readonly RunFigures[], b: readonly RunFigures[]): readonly PreflightFinding[] {
  const undated = [...a, ...b].filter(({ start }) => start === null);
  if (undated.length === 0) return [];
  const sentence =
    `When ${things(undated.length, 'runs')} ${undated.length === 1 ? 'was' : 'were'} made is not known: ` +
    'a trend between the sets would look like a change.';
  return [{ check: 'time_order', outcome: 'unknown', run_ids: undated.map(({ run_id }) => run_id), sentence }];
}

/** The places of the runs of `a` and then `b`, in the order of their starts; null where one has none. */
function timeOrder(a: readonly RunFigures[], b: readonly RunFigures[]): readonly number[] | null {
  const times = [...a, ...b].map(({ start }) => (start === null ? NaN : Date.parse(start)));
  if (times.some(Number.isNaN)) return null;
  return times.map((_, place) => place).sort((x, y) => (times[x] ?? NaN) - (times[y] ?? NaN));
}

/** Whether the series changes between the sets at least as often as that of pairs, in whatever order each pair was made. */
function isInterleaved(order: readonly number[], ofA: number, ofB: number): boolean {
  const changes = order.filter((place, i) => i > 0 && place < ofA !== (order[i - 1] ?? NaN) < ofA).length;
  return changes >= Math.min(ofA, ofB) && changes > 1;
}

function doubtsOf(
  cases: readonly FigureCase[],
  order: readonly number[],
  gates: boolean,
): readonly (readonly [string, Doubt])[] {
  const [first] = cases;
  if (first === undefined) return [];
  const second = order.map((place) => place >= first.a.length);
  const shifts = orderedShifts(
    cases.map((each) => seriesOf(each, order) ?? []),
    second,
  );
  const against = shifts.map(({ below }) => Math.min(below(0), 1 - below(0)));
  const levels = gates ? holmLevels(against, LEVEL) : against.map(() => LEVEL);
  return cases.map(({ key }, i) => {
    const [low, high] = shifts[i]?.interval(levels[i] ?? LEVEL) ?? [-Infinity, Infinity];
    return [keyText(key), { reason: 'time_order', low, high }];
  });
}

/** The values in the order of time, with the middle of those that are known as intervals; null where one is infinite. */
function seriesOf({ a, b }: FigureCase, order: readonly number[]): readonly number[] | null {
  const values = [...a, ...b].map(([low, high]) => (low + high) / 2);
  return values.every(Number.isFinite) ? order.map((place) => values[place] ?? NaN) : null;
}
