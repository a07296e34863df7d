import { capitalized, measureTitle, statisticTitle } from '../../core/measures/names.ts';
import { changeText, percentText } from '../../core/text/quantities.ts';
import { MIN_LOOK } from '../../core/stats/robust-shift.ts';
import { lowerIsWorse, SHARES_OF_FAILURE } from './evidence.ts';
import type {
  FigureKey,
  EffectRatio,
  Judgment,
  MeasureVerdict,
  PreflightFinding,
  Reason,
  VerdictName,
} from '../../core/api/verdict.ts';

/** The verdict on one figure with its evidence, in one sentence. */
export function evidenceSentence(verdict: Omit<MeasureVerdict, 'sentence'>): string {
  const { effect, margin, confidence } = verdict;
  const what = SHARES_OF_FAILURE.has(verdict.measure) ? `the share without it (1 − ${measureTitle(verdict)})` : 'it';
  const bound = verdict.verdict === 'regressed' ? null : boundText(verdict);
  const changed =
    effect === null
      ? ''
      : `; ${what} changed by ${changeText(effect.estimate)} (${intervalText(effect, confidence ?? 0)}), ` +
        `${runsText(verdict)}, margin ${percentText(margin)}${bound === null ? '' : `; ${bound}`}`;
  const because = BECAUSE[verdict.reason];
  return `${capitalized(statisticTitle(verdict))} is ${verdict.verdict}${because === '' ? '' : `: ${because}`}${changed}.`;
}

/** What the runs exclude: `no slower than +6.8 % (95 %)`. Null where they exclude nothing. */
export function boundText(
  verdict: Pick<MeasureVerdict, 'measure' | 'direction' | 'unit' | 'effect' | 'confidence'>,
): string | null {
  const { effect, confidence, unit } = verdict;
  if (effect === null || confidence === null) return null;
  const isLow = lowerIsWorse(verdict);
  const worst = isLow ? effect.low : effect.high;
  if (!Number.isFinite(worst) || worst === 0) return null;
  const what = isLow ? 'no less than' : unit === 'seconds' ? 'no slower than' : 'no more than';
  // One end of an interval misses half as often as both.
  return `${what} ${changeText(worst)} (${percentText((1 + confidence) / 2)})`;
}

/** The overall verdict in one sentence: which figures led to it, or what is in the way. */
export function overallSentence(
  verdict: VerdictName,
  gating: readonly MeasureVerdict[],
  preflight: readonly PreflightFinding[],
): string {
  const failed = preflight.filter(({ outcome }) => outcome === 'failed');
  if (failed.length > 0) return `Undecided, because the runs are not comparable. ${failed[0]?.sentence ?? ''}`.trim();
  if (gating.length === 0) return 'Undecided, because the runs have none of the measures that gate.';
  const leading = gating.filter((one) => one.verdict === verdict);
  switch (verdict) {
    case 'unchanged':
      return `Unchanged: ${gating.length === 1 ? 'the measure that gates' : `all ${gating.length} measures that gate`} changed by less than the margin.`;
    case 'suspect':
      return `Suspect: ${listOf(leading)} worse than the history; further runs have to confirm it.`;
    case 'regressed':
      return `Regressed: ${listOf(leading)} worse by at least the margin.`;
    case 'improved':
      return `Improved: ${listOf(leading)} better by at least the margin.`;
    case 'undecided': {
      const seen = seenText(gating);
      if (seen !== null && leading.every(({ reason }) => NOTHING_FOUND.has(reason))) return seen;
      const because = BECAUSE[leading[0]?.reason ?? 'wide_interval'];
      return `Undecided for ${leading.map(statisticTitle).join(', ')}: ${because === '' ? 'the evidence is missing' : because}.`;
    }
  }
}

/** Reasons for which a change that was large enough would have been found. */
const NOTHING_FOUND: ReadonlySet<Reason> = new Set([
  'wide_interval',
  'near_margin',
  'multiple_measures',
  'unconfirmed_improvement',
]);

/** What the check of a history would have seen; null where that is not known of a measure that gates. */
function seenText(gating: readonly MeasureVerdict[]): string | null {
  if (gating.some(({ method, detectable }) => method !== 'robust_shift' || detectable === null)) return null;
  const [largest] = gating.toSorted((x, y) => (y.detectable ?? 0) - (x.detectable ?? 0));
  if (largest === undefined) return null;
  const better = gating.filter(({ reason }) => reason === 'unconfirmed_improvement');
  const seen = gating.every(({ runs }) => runs.b >= MIN_LOOK) ? 'seen' : 'suspected';
  const note =
    better.length === 0
      ? ''
      : ` The newest run is better than the history in ${better.map(statisticTitle).join(', ')}; further runs have to confirm it.`;
  return `No regression found; a change of +${percentText(largest.detectable ?? 0)} would have been ${seen} (${statisticTitle(largest)} has the largest scatter).${note}`;
}

const BECAUSE: Readonly<Record<Reason, string>> = {
  decided: '',
  preflight: 'the runs are not comparable',
  too_few_runs: 'there are too few runs for any result to decide',
  wide_interval: 'the interval holds both no change and a change of the margin',
  near_margin: 'it changed, but whether by the margin is open',
  unconfirmed_regression: 'this run is worse than the history, and further runs have to confirm it',
  unconfirmed_improvement: 'this run is better than the history, and further runs have to confirm it',
  multiple_measures: 'the evidence would suffice for one measure, but not for as many as are judged',
  time_order:
    'the runs of one set follow those of the other, and a trend of the machine or runs that depend on each other could be ' +
    'the change; compare in interleaved pairs',
  dependent_slices:
    'slices of a server resemble those before them, and the difference could be no more than that; add the same slices of ' +
    'earlier days to A (import --days), or longer windows',
  buckets: 'the buckets are too coarse for the margin',
  failures: 'it is better among successful requests only, not when failed ones count as infinitely slow',
  missing_values: 'some runs have no value',
  few_values: 'the percentile rests on too few independent values',
  unbounded: 'some values are infinite or have no bound',
  no_measures: 'the runs have none of the measures that gate',
};

function runsText({ runs, method }: Pick<MeasureVerdict, 'runs' | 'method'>): string {
  switch (method) {
    case 'signed_rank_exact':
    case 'signed_rank_normal':
      return `${runs.b} pairs`;
    case 'robust_shift':
      return runs.b === 1 ? `the newest run after ${runs.a}` : `the last ${runs.b} runs after ${runs.a}`;
    default:
      return `${runs.a} and ${runs.b} runs`;
  }
}

function intervalText({ low, high }: EffectRatio, confidence: number): string {
  if (low === 0 && high === Infinity) return 'no interval';
  return `${percentText(confidence)} interval ${changeText(low)} to ${changeText(high)}`;
}

function listOf(verdicts: readonly FigureKey[]): string {
  return `${verdicts.map(statisticTitle).join(', ')} ${verdicts.length === 1 ? 'is' : 'are'}`;
}

/** The reason of the overall verdict: of the first figure that led to it. */
export function overallReason({
  verdict,
  preflight,
  measures,
}: Pick<Judgment, 'verdict' | 'preflight' | 'measures'>): Reason {
  if (preflight.some(({ outcome }) => outcome === 'failed')) return 'preflight';
  const gating = measures.filter((one) => one.gating);
  return gating.find((one) => one.verdict === verdict)?.reason ?? 'no_measures';
}
