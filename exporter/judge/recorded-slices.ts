import { areOfServers } from './rules.ts';
import type { RunFigures } from './run-figures.ts';

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
