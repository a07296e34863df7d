import { oldestFirst } from '../../core/run/run-order.ts';
import { things } from '../../core/text/things.ts';
import { autoregressiveShift } from '../../core/stats/autoregressive-shift.ts';
import { centered } from '../../core/stats/centered.ts';
import { percentile } from '../../core/stats/percentiles.ts';
import type { KnownInterval } from '../../core/stats/shift.ts';
import { FEWEST_FOR_DEPENDENCE, serialDependence } from '../../core/stats/serial-dependence.ts';
import { BASELINE_RUNS } from './baseline-window.ts';
import { casesOf, keyText } from './cases.ts';
import { judge, worst } from './compare.ts';
import { autoregressiveEvidence, FEWEST_FOR_T, PREDICTION_END, predictionEvidence, setsEvidence } from './evidence.ts';
import { missingRuns } from './gather.ts';
import type { Doubt } from './judge-cases.ts';
import { defaultRules, type Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import type { Judgment, Needs, Reason, VerdictName } from './verdict.ts';

/** Dependence from which the rate of false alarms is no longer kept, and the level at which it counts as seen. */
const TOO_DEPENDENT = 0.4;
const DEPENDENCE_LEVEL = 0.05;
/** Runs of history from which the dependence is estimated well enough to judge with it. */
const FEWEST_FOR_AUTOREGRESSION = 15;
/** What a change has to reach when the history is in doubt, in margins and in standard deviations of the history. */
const SURE_MARGINS = 2;
const SURE_DEVIATIONS = 4;

export interface HistoryOptions {
  /** Runs that were pinned as the reference against slow drift. */
  readonly anchor?: readonly RunFigures[];
  /** Default: `defaultRules` of the runs. */
  readonly rules?: Rules;
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
 * Judges new runs of one plan against the accepted runs of the scenario.
 *
 * One new run is at most *suspect*: beyond the history (by ranks from 19 runs, by a t prediction interval from 5) and at least
 * the margin from its center. Several new runs, of which the first (by start) alone would be suspect, are its
 * confirmation: they are compared with the baseline by ranks, without the first, which was selected for being slow. If the
 * first alone would not be suspect, all are compared.
 *
 * @param accepted every accepted run of the scenario, in any order; only those with the new runs' fingerprint count
 * @param runs the runs since then, or those to be judged; at least one
 * @throws RangeError without new runs
 */
export function judgeAgainstHistory(
  accepted: readonly RunFigures[],
  runs: readonly RunFigures[],
  options: HistoryOptions = {},
): HistoryJudgment {
  const fresh = inOrder(runs);
  const [first] = fresh;
  if (first === undefined) throw new RangeError('there is no run to judge');
  const { rules = defaultRules([...accepted, ...runs]), anchor } = options;
  const judged = new Set(runs.map(({ run_id }) => run_id));
  const like = (others: readonly RunFigures[]): readonly RunFigures[] =>
    inOrder(others.filter((run) => run.fingerprint === first.fingerprint && !judged.has(run.run_id)));
  const history = like(accepted);
  const baseline = history.slice(-BASELINE_RUNS);
  const window = against(baseline, first, fresh, { rules, follows: true });
  const pinned =
    anchor === undefined || anchor.length === 0 ? null : against(like(anchor), first, fresh, { rules, follows: false });
  const all = pinned === null ? [window] : [window, pinned];
  const verdict = worst(all.map((one) => one.verdict));
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

function against(
  baseline: readonly RunFigures[],
  first: RunFigures,
  fresh: readonly RunFigures[],
  /** `follows`: the new runs come right after the baseline, and may depend on its last ones. */
  { rules, follows }: { readonly rules: Rules; readonly follows: boolean },
): Judgment {
  const needed = Math.max(0, FEWEST_FOR_T - baseline.length);
  if (needed > 0 && fresh.length === 1) return noBaseline(baseline, first, needed);
  // From these runs alone: a level that was accepted before them would look like dependence.
  const series = follows ? dependentSeries(baseline, first, rules) : NO_SERIES;
  const doubts = withoutKeys(doubtsOf(baseline, rules), series);
  const alone = baseline.length < FEWEST_FOR_T ? null : judge(baseline, [first], rules, single(doubts, series));
  if (alone !== null && fresh.length === 1) return alone;
  const suspect = alone?.verdict === 'suspect';
  const rest = suspect ? fresh.slice(1) : fresh;
  if (baseline.length === 0) return noBaseline(baseline, first, needed);
  const evidenceOf = confirming(series, suspect);
  const confirmed = judge(baseline, rest, rules, { design: 'confirm', evidenceOf, doubts });
  if (!suspect) return confirmed;
  const left = { ...confirmed, left_out: first.run_id };
  const gating = confirmed.measures.filter((one) => one.gating).length;
  const size = { design: 'confirm', a: baseline.length, b: rest.length, gating, alpha: rules.alpha } as const;
  const needs = missingRuns(size);
  if (needs === null || confirmed.reason === 'preflight') return left;
  const there = `${rest.length} confirming ${rest.length === 1 ? 'run is' : 'runs are'} too few to decide.`;
  const sentence = `${alone.sentence} ${there}`;
  return { ...left, verdict: 'suspect', reason: 'unconfirmed_regression', sentence, needs };
}

type How = Parameters<typeof judge>[3];

function single(doubts: ReadonlyMap<string, Doubt>, series: DependentSeries): How {
  return {
    design: 'single',
    evidenceOf: (a, b, key) => {
      const own = series.get(keyText(key));
      const shift = own === undefined ? null : autoregressiveShift(own.history, [own.first]);
      return shift === null ? predictionEvidence(a, b[0] ?? [NaN, NaN]) : autoregressiveEvidence(shift, PREDICTION_END);
    },
    doubts,
  };
}

/**
 * Ranks, without the run that raised the suspicion. Where runs depend on the one before, a series without that run would
 * break: it stays, and the test is one of all runs that followed the history, whatever led to it.
 */
function confirming(series: DependentSeries, suspect: boolean): How['evidenceOf'] {
  return (a, b, key) => {
    const own = series.get(keyText(key));
    const after = b.map(exactValue);
    if (own === undefined || after.includes(null)) return setsEvidence(a, b);
    const known = after.filter((value) => value !== null);
    const shift = autoregressiveShift(own.history, suspect ? [own.first, ...known] : known);
    return shift === null ? setsEvidence(a, b) : autoregressiveEvidence(shift, null);
  };
}

/** By `keyText`, figures whose runs depend on the one before: their values in the order of the runs. */
type DependentSeries = ReadonlyMap<string, { readonly history: readonly number[]; readonly first: number }>;

const NO_SERIES: DependentSeries = new Map();

/** Where the history is long enough to estimate the dependence and every value is known exactly. */
function dependentSeries(baseline: readonly RunFigures[], first: RunFigures, rules: Rules): DependentSeries {
  const found = new Map<string, { history: readonly number[]; first: number }>();
  for (const { key, a, b, problem } of casesOf(baseline, [first], rules)) {
    const values = [...a, ...b].map(exactValue).filter((value) => value !== null && Number.isFinite(value));
    const [last = NaN] = values.slice(-1) as number[];
    const history = values.slice(0, -1) as number[];
    if (problem !== null || b.length !== 1 || values.length !== a.length + 1) continue;
    if (history.length >= FEWEST_FOR_AUTOREGRESSION && isDependent(history))
      found.set(keyText(key), { history, first: last });
  }
  return found;
}

function exactValue([low, high]: KnownInterval): number | null {
  return low === high ? low : null;
}

function withoutKeys(doubts: ReadonlyMap<string, Doubt>, series: DependentSeries): ReadonlyMap<string, Doubt> {
  return new Map([...doubts].filter(([key]) => !series.has(key)));
}

function isDependent(values: readonly number[]): boolean {
  const seen = serialDependence(values);
  return seen !== null && seen.p <= DEPENDENCE_LEVEL && seen.autocorrelation >= TOO_DEPENDENT;
}

function noBaseline(baseline: readonly RunFigures[], run: RunFigures, further: number): Judgment {
  return {
    design: 'history',
    scenario: run.scenario,
    verdict: 'undecided',
    reason: 'too_few_runs',
    sentence:
      `Undecided, because the baseline has ${things(baseline.length, 'accepted runs')} of this configuration and needs ` +
      `at least ${FEWEST_FOR_T}.`,
    runs: { a: baseline.map(({ run_id }) => run_id), b: [run.run_id] },
    left_out: null,
    preflight: [],
    measures: [],
    needs: { design: 'baseline', further },
  };
}

/**
 * The figures whose runs depend on each other, or are too few to show it, and the change that is decided all the same.
 *
 * Ranks hold for independent runs. However runs depend on each other, a level that moved by twice the margin and four
 * standard deviations is no excursion of the same process: so large a change is not withheld.
 */
function doubtsOf(baseline: readonly RunFigures[], rules: Rules): ReadonlyMap<string, Doubt> {
  const found = new Map<string, Doubt>();
  for (const { key, a, margin } of casesOf(baseline, [], rules)) {
    const values = a.map((known) => percentile(Float64Array.from(known), 0.5));
    const least = Math.max(SURE_MARGINS * Math.log1p(margin), SURE_DEVIATIONS * deviation(values));
    const short = values.length < FEWEST_FOR_DEPENDENCE;
    if (short || isDependent(values))
      found.set(keyText(key), { reason: short ? 'short_history' : 'dependent_history', least });
  }
  return found;
}

/** 0 for a single value. */
function deviation(values: readonly number[]): number {
  const squares = centered(Float64Array.from(values)).reduce((sum, value) => sum + value ** 2, 0);
  return Math.sqrt(squares / Math.max(1, values.length - 1));
}

export function inOrder(runs: readonly RunFigures[]): readonly RunFigures[] {
  return runs.toSorted(oldestFirst);
}
