import type { PreflightFinding } from '../../core/api/verdict.ts';
import { dependentMean, meanBesideDays } from '../../core/stats/dependence.ts';
import { middle } from '../../core/stats/robust-shift.ts';
import { things } from '../../core/text/quantities.ts';
import { casesOf, keyText, type FigureCase } from './cases.ts';
import type { RunFigures } from './run-figures.ts';
import { doubtsFrom, type Doubt } from './judge-cases.ts';
import { preflight } from './preflight.ts';
import { type Rules, areOfServers } from './rules.ts';

/**
 * The chance that what slices have in common with those before them is taken for a change of any gating measure
 * (`npm run bench -- judge` measures the false alarms).
 */
const LEVEL = 0.008;
/** Fewer days say less of the variation than the pairs themselves. */
const MIN_DAYS = 5;

/** Pairs of slices, with the days that had the load of the pairs. */
interface ComparableSlices extends PairedSlices {
  readonly findings: readonly PreflightFinding[];
}

/** Leaves out the days on which A had another load: how it varied then says nothing of these slices. */
export function onComparableDays(slices: PairedSlices): ComparableSlices {
  const { a, days } = slices;
  const isComparable = (day: readonly RunFigures[]): boolean =>
    preflight(a, day).every(({ outcome }) => outcome !== 'failed');
  const like = days.filter(isComparable);
  if (days.length === 0) return { ...slices, findings: [] };
  const others = days.length - like.length;
  const left =
    others === 0 ? '' : ` ${things(others, 'days')} with another load ${others === 1 ? 'is' : 'are'} left out.`;
  const enough = like.length >= MIN_DAYS;
  const sentence = enough
    ? `How much A varies without a change is known from ${things(like.length, 'other days')}.${left}`
    : `How much A varies without a change is not known: that takes ${MIN_DAYS} other days with its load, and it has ${like.length}.${left}`;
  const finding: PreflightFinding = {
    check: 'earlier_days',
    outcome: enough ? 'accepted' : 'unknown',
    run_ids: like.flat().map(({ run_id }) => run_id),
    sentence,
  };
  return { ...slices, days: enough ? like : [], findings: [finding] };
}

/**
 * By `keyText`, what a change must reach before it is no dependence of slices, of which those of one process resemble each
 * other: what A varies from day to day where other days are known, else the ratios of the pairs with any dependence that they do not exclude.
 */
export function sliceDoubts({ a, b, days }: PairedSlices, rules: Rules): ReadonlyMap<string, Doubt> {
  const usable = casesOf(a, b, rules).filter((each) => each.problem === null && hasFigures(each));
  const ofDays = days.map((day) => new Map(casesOf(day, b, rules).map((each) => [keyText(each.key), each])));
  const doubts = [true, false].flatMap((gates) => {
    const cases = usable.filter(({ place }) => gates === place >= 0);
    const means = cases.map(({ key, a: from, b: to }) => {
      const differences = to.map((value, i) => middle(value) - middle(from[i] ?? [NaN, NaN]));
      const known = ofDays.flatMap((cases) => {
        const found = cases.get(keyText(key));
        return found?.problem === null && hasFigures(found) ? [found.a.map(middle)] : [];
      });
      return known.length < MIN_DAYS ? dependentMean(differences) : meanBesideDays(differences, known);
    });
    return doubtsFrom(cases, means, { gates, level: LEVEL, reason: 'dependent_slices' });
  });
  return new Map(doubts);
}

const hasFigures = ({ a, b }: FigureCase): boolean => [...a, ...b].every((value) => value.every(Number.isFinite));

/** Slices of two servers at the same times, and how the first was at these times of other days. */
export interface PairedSlices {
  readonly a: readonly RunFigures[];
  readonly b: readonly RunFigures[];
  /** Of A, each with a slice for each of the pairs, in their order; the earliest day first. */
  readonly days: readonly (readonly RunFigures[])[];
}

const DAY_MS = 86_400_000;

/**
 * Pairs each slice of B with that of A of the same time; what else A has are the same slices of other days. A day without one of
 * them is left out. Null: these are no windows of what servers recorded. A text: the reason why they are no pairs.
 */
export function pairedSlices(a: readonly RunFigures[], b: readonly RunFigures[]): PairedSlices | string | null {
  if (!areOfServers([...a, ...b])) return null;
  const places = new Map(b.map(({ start }, place) => [timeOfDay(start), place]));
  const byDay = new Map<number, RunFigures[]>();
  for (const slice of a) {
    const place = places.get(timeOfDay(slice.start));
    const day = (timeOf(slice.start) - timeOf(b[place ?? -1]?.start ?? null)) / DAY_MS;
    if (place === undefined || Number.isNaN(day)) return unpaired(slice, 'A', 'B');
    const slices = byDay.get(day) ?? [];
    if (slices[place] !== undefined)
      return `paired compares one slice of each time, and A has several of ${slice.start}`;
    slices[place] = slice;
    byDay.set(day, slices);
  }
  const beside = byDay.get(0) ?? [];
  const alone = b.find((_, place) => beside[place] === undefined);
  if (alone !== undefined || places.size < b.length) return unpaired(alone ?? b[0], 'B', 'A');
  const days = [...byDay].filter(([day, slices]) => day !== 0 && b.every((_, place) => slices[place] !== undefined));
  return { a: beside, b, days: days.sort(([x], [y]) => x - y).map(([, slices]) => slices) };
}

/** Days before that are looked at. */
const MAX_DAYS = 20;

/** Of stored windows the slices of a scenario at the same times of the days before, one of each time. */
export function slicesOfDaysBefore<Stored extends Pick<RunFigures, 'start'> & { readonly scenario: string | null }>(
  stored: readonly Stored[],
  slices: readonly RunFigures[],
): readonly Stored[] {
  const [first] = slices;
  const places = new Map(slices.map(({ start }) => [timeOfDay(start), timeOf(start)]));
  const found = new Map<string, Stored>();
  for (const run of stored) {
    const days = ((places.get(timeOfDay(run.start)) ?? NaN) - timeOf(run.start)) / DAY_MS;
    if (run.scenario === first?.scenario && days > 0 && days <= MAX_DAYS) found.set(run.start ?? '', run);
  }
  return [...found.values()];
}

const timeOf = (start: string | null): number => (start === null ? NaN : Date.parse(start));

const timeOfDay = (start: string | null): number => timeOf(start) % DAY_MS;

const unpaired = (slice: RunFigures | undefined, of: string, other: string): string =>
  `paired compares slices of the same times, and ${slice?.run_id ?? 'one'} of ${of} has none beside it in ${other}: import both ` +
  'with the same --from, --to and --slice';
