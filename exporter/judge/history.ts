import { oldestFirst } from '../../core/run/run-id.ts';
import { things } from '../../core/text/quantities.ts';
import { median } from '../../core/stats/percentiles.ts';
import { MAX_LOOK, middle, MIN_REFERENCE, recovery } from '../../core/stats/robust-shift.ts';
import { CHECK_ALPHA, referenceFrom, BASELINE_RUNS, type Levels } from './baseline-sight.ts';
import { casesOf, gatingOnly, keyText } from './cases.ts';
import type { RunFigures } from './run-figures.ts';
import { judge, worst } from './compare.ts';
import { historyEvidence } from './evidence.ts';
import { preflight } from './preflight.ts';
import { defaultRules, type Rules } from './rules.ts';
import type { Judgment, Needs, Reason, VerdictName } from '../../core/api/verdict.ts';

interface HistoryOptions {
  /** Runs that were pinned as the reference against slow drift. */
  readonly anchor?: readonly RunFigures[];
  /** Default: `defaultRules` of the runs. */
  readonly rules?: Rules;
  readonly levels?: Levels;
}

export interface HistoryJudgment {
  /** The worse of the two. */
  readonly verdict: VerdictName;
  readonly reason: Reason;
  readonly sentence: string;
  readonly needs: Needs | null;
  /** Against the last accepted runs. */
  readonly window: Judgment;
  /** Against the pinned runs; null when none are pinned. */
  readonly anchor: Judgment | null;
}

/**
 * Judges the newest runs of one plan against the accepted runs of the scenario: the last 3, 5 and 8 of them together, in both
 * directions, so that evidence accumulates from night to night. The newest run alone is at most *suspect*.
 *
 * @param accepted every accepted run of the scenario, in any order; only those with the new runs' fingerprint count
 * @param runs the runs since then, or those to be judged; at least one
 * @throws RangeError without new runs
 */
export function judgeAgainstHistory(
  accepted: readonly RunFigures[],
  runs: readonly RunFigures[],
  { anchor = [], rules = defaultRules([...accepted, ...runs]), levels = new Map() }: HistoryOptions = {},
): HistoryJudgment {
  const fresh = inOrder(runs);
  const window = judgeAgainst(likeNewest(accepted, fresh).slice(-BASELINE_RUNS), fresh, rules, levels);
  const pinned = anchor.length === 0 ? null : judgeAgainst(likeNewest(anchor, fresh), fresh, rules, levels);
  const verdict = worst([window.verdict, ...(pinned === null ? [] : [pinned.verdict])]);
  const decisive = decisiveOf({ verdict, window, anchor: pinned });
  const { reason, sentence, needs } = decisive;
  const by = decisive === pinned ? `Against the pinned runs: ${sentence}` : sentence;
  return { verdict, reason, sentence: by, needs, window, anchor: pinned };
}

/** The judgment that led to the verdict: against the last accepted runs, or against the pinned ones. */
export function decisiveOf({
  verdict,
  window,
  anchor,
}: Pick<HistoryJudgment, 'verdict' | 'window' | 'anchor'>): Judgment {
  return window.verdict === verdict || anchor === null ? window : anchor;
}

export function inOrder(runs: readonly RunFigures[]): readonly RunFigures[] {
  return runs.toSorted(oldestFirst);
}

/** The runs with the configuration of the newest of those that are judged, without these. */
function likeNewest(others: readonly RunFigures[], judged: readonly RunFigures[]): readonly RunFigures[] {
  const ids = new Set(judged.map(({ run_id }) => run_id));
  const { fingerprint } = newestOf(judged);
  return inOrder(others.filter((run) => run.fingerprint === fingerprint && !ids.has(run.run_id)));
}

function newestOf(runs: readonly RunFigures[]): RunFigures {
  const newest = runs.at(-1);
  if (newest === undefined) throw new RangeError('there is no run to judge');
  return newest;
}

/** Both oldest first. */
function judgeAgainst(
  baseline: readonly RunFigures[],
  fresh: readonly RunFigures[],
  rules: Rules,
  levels: Levels,
): Judgment {
  const newest = newestOf(fresh);
  if (baseline.length < MIN_REFERENCE) return noBaseline(baseline, newest);
  const evidence = [...comparableRuns(baseline, fresh.slice(0, -1)), newest];
  const reference = referenceFrom(baseline, rules, levels);
  const found = judge(baseline, evidence.slice(-MAX_LOOK), rules, {
    design: 'history',
    alpha: CHECK_ALPHA,
    doubts: new Map(),
    evidenceOf: ({ a, b, margin }) =>
      historyEvidence(reference(a), b, { level: CHECK_ALPHA, margin: Math.log1p(margin) }),
  });
  const number = found.verdict === 'regressed' ? runsSinceChange(found, baseline, evidence, rules) : runsBehind(found);
  return { ...found, runs: { ...found.runs, b: evidence.slice(-number).map(({ run_id }) => run_id) } };
}

/** A run during which something else was different is no evidence of the nights after it. */
function comparableRuns(baseline: readonly RunFigures[], runs: readonly RunFigures[]): readonly RunFigures[] {
  return runs.filter((run) => preflight(baseline, [run]).every(({ outcome }) => outcome !== 'failed'));
}

/** How many of the last runs led to the verdict. */
function runsBehind({ verdict, measures, reason }: Judgment): number {
  if (reason === 'preflight') return 1;
  const leading = measures.filter((one) => one.gating && one.verdict === verdict);
  return Math.max(1, ...leading.map(({ runs }) => runs.b));
}

/**
 * How many of the last runs belong to a regression: those that show it, and those before them that are nearer to its level than to
 * the baseline, in some measure that regressed.
 */
function runsSinceChange(
  found: Judgment,
  baseline: readonly RunFigures[],
  evidence: readonly RunFigures[],
  rules: Rules,
): number {
  const behind = runsBehind(found);
  const regressed = new Set(found.measures.filter((one) => one.gating && one.verdict === 'regressed').map(keyText));
  const starts = casesOf(baseline, evidence, rules)
    .filter(({ key, b }) => regressed.has(keyText(key)) && b.length === evidence.length)
    .map(({ a, b }) => {
      const values = b.map(middle);
      const between = (median(a.map(middle)) + median(values.slice(-behind))) / 2;
      return values.slice(0, -behind).findLastIndex((value) => !(value >= between)) + 1;
    });
  return Math.max(behind, ...starts.map((start) => evidence.length - start));
}

function noBaseline(baseline: readonly RunFigures[], newest: RunFigures): Judgment {
  return {
    design: 'history',
    scenario: newest.scenario,
    verdict: 'undecided',
    reason: 'too_few_runs',
    sentence:
      `Undecided, because the baseline has ${things(baseline.length, 'accepted runs')} of this configuration and needs ` +
      `at least ${MIN_REFERENCE}.`,
    runs: { a: baseline.map(({ run_id }) => run_id), b: [newest.run_id] },
    left_out: null,
    preflight: [],
    measures: [],
    needs: { design: 'baseline', further: MIN_REFERENCE - baseline.length },
  };
}

export interface RegressionEnd {
  /** The runs since which the regression is over; null while it is not sure. */
  readonly since: readonly RunFigures[] | null;
  /** Further runs that would show it if they look like the baseline; null when they are too many to say. */
  readonly further: number | null;
}

/** More is no help to anyone who waits for it. */
const MAX_FURTHER = 100;

/**
 * Whether an open regression is over: of every measure that regressed, the runs since it was found lie below the margin, and far more
 * likely come from the baseline than from the level of the regression.
 *
 * @param runs all since the regression began
 * @param found how many of them there were when it was found
 * @param regressed the figures that regressed, by `keyText`
 */
export function regressionEnd(
  baseline: readonly RunFigures[],
  runs: readonly RunFigures[],
  found: number,
  { regressed, rules, levels }: { regressed: ReadonlySet<string>; rules: Rules; levels: Levels },
): RegressionEnd {
  const ordered = inOrder(runs);
  const first = ordered.slice(0, found);
  const series = [...first, ...comparableRuns(baseline, ordered.slice(found))];
  const gating = (of: readonly RunFigures[]): readonly RunFigures[] => of.map((run) => gatingOnly(run, rules));
  const cases = casesOf(gating(baseline), gating(series), rules).filter(({ key }) => regressed.has(keyText(key)));
  if (cases.length === 0 || cases.some(({ problem }) => problem !== null)) return { since: null, further: null };
  const reference = referenceFrom(baseline, rules, levels);
  const ends = cases.map(({ a, b, margin }) => recovery(reference(a), b, first.length, Math.log1p(margin)));
  const starts = ends.flatMap(({ from }) => from ?? []);
  if (starts.length === ends.length) return { since: series.slice(Math.min(...starts)), further: 0 };
  const further = Math.max(...ends.map((end) => end.further));
  return { since: null, further: further > MAX_FURTHER ? null : further };
}
