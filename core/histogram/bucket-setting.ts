import type { DividedBucket } from './bucket-advice.ts';
import { lowerEdge } from './classic-histogram.ts';

/** A grid that a server makes of three numbers. */
export interface LogSpacing {
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/**
 * The bounds of a grid with equal steps in the logarithm: 0, then `count` - 1 bounds from just above `min` up to `max`,
 * rounded to two significant digits, each once. `min` itself is no bound. Needs 0 < `min` < `max` and a `count` above 1.
 */
export function logSpacedBounds({ min, max, count }: LogSpacing): number[] {
  const step = Math.log(max / min) / (count - 1);
  const bounds = Array.from({ length: count - 1 }, (_, i) => twoDigits(min * Math.exp(step * (i + 1))));
  return [...new Set([0, ...bounds])];
}

/** The numbers that make a grid of `logSpacedBounds`; null when there are fewer than three bounds above 0. */
export function spacingOf(bounds: readonly number[]): LogSpacing | null {
  const above = bounds.filter((bound) => bound > 0 && Number.isFinite(bound));
  const [first, last] = [above[0], above.at(-1)];
  if (first === undefined || last === undefined || above.length < 3) return null;
  const ratio = (last / first) ** (1 / (above.length - 1));
  return { min: twoDigits(first / ratio), max: last, count: above.length + 1 };
}

/**
 * The smallest `count` with which every bucket that touches one of the given buckets is at most half as wide as that
 * one. `max` stays; `min` is lowered where the first bucket above 0 is to be divided. Null when no count up to `most`
 * is enough, as two digits do not resolve narrower buckets.
 */
export function finerSpacing(
  bounds: readonly number[],
  buckets: readonly DividedBucket[],
  most: number,
): LogSpacing | null {
  const today = spacingOf(bounds);
  if (today === null) return null;
  const first = buckets.find(({ low }) => low === 0);
  const min = first === undefined ? today.min : twoDigits(Math.min(today.min, first.bound / 2));
  for (let count = today.count + 1; count <= most; count++) {
    const spacing = { min, max: today.max, count };
    if (halves(logSpacedBounds(spacing), buckets)) return spacing;
  }
  return null;
}

/** Rounding of a difference of two bounds. */
const TOLERANCE = 1 + 1e-9;

function halves(bounds: readonly number[], buckets: readonly DividedBucket[]): boolean {
  return buckets.every(({ low, high }) =>
    bounds.every((bound, i) => {
      const lower = lowerEdge(bounds, i);
      const touches = lower < high && bound > low && lower >= 0;
      return !touches || bound - lower <= ((high - low) / 2) * TOLERANCE;
    }),
  );
}

const twoDigits = (value: number): number => Number(value.toPrecision(2));

/**
 * An option of a server that sets the bounds of families. In the templates stand `{bounds}`, or `{min}`, `{max}` and
 * `{count}`, `{key}`, and in `setting` `{parts}`.
 */
export interface BucketOption {
  /** The flag, the variable or the key, as an operator names it. */
  readonly name: string;
  readonly place: 'argument' | 'environment' | 'file';
  /** `list`: any ascending bounds; `log_spaced`: the three numbers of `logSpacedBounds`. */
  readonly takes: 'list' | 'log_spaced';
  /** What is written per key. */
  readonly part: string;
  /** What is written around the parts of all keys; default: nothing. */
  readonly setting?: string;
  /** Between the parts. */
  readonly part_separator?: string;
  /** Between the bounds; default: a space. */
  readonly separator?: string;
  /** The server adds the bound 0 itself. */
  readonly adds_zero?: boolean;
  /** Largest number of bounds that the server takes. */
  readonly most_bounds?: number;
  /** The first version that has it. */
  readonly since?: string;
  readonly note?: string;
  readonly sets: readonly { readonly key?: string; readonly families: readonly string[] }[];
}

/** A family with its bounds of today and the buckets to divide. */
export interface FamilyToDivide {
  /** The name by which the option knows it. */
  readonly family: string;
  /** Finite and ascending. */
  readonly bounds: readonly number[];
  readonly divided: readonly DividedBucket[];
}

/** What to write to get narrower buckets. */
export interface BucketSetting {
  readonly option: BucketOption;
  /** To be copied; null when no value of the option halves the buckets. */
  readonly text: string | null;
  /** The families that the setting changes, with their finite bounds under it. */
  readonly families: readonly { readonly family: string; readonly bounds: readonly number[] }[];
}

/** The option that sets the bounds of a family; null when none does. */
export function optionOf(options: readonly BucketOption[], family: string): BucketOption | null {
  return options.find(({ sets }) => sets.some(({ families }) => families.includes(family))) ?? null;
}

/**
 * The settings that divide the buckets of these families, one per option. Families that share a key get the bounds that
 * all of them need. Families without a bucket to divide, and without an option, take no part.
 */
export function bucketSettings(options: readonly BucketOption[], families: readonly FamilyToDivide[]): BucketSetting[] {
  return options.flatMap((option) => {
    const parts = option.sets.flatMap((set) => {
      const members = families.filter(({ family }) => set.families.includes(family));
      return members.some(({ divided }) => divided.length > 0) ? [partOf(option, set.key ?? '', members)] : [];
    });
    if (parts.length === 0) return [];
    const texts = parts.flatMap(({ text }) => (text === null ? [] : [text]));
    const joined = texts.join(option.part_separator ?? ' ');
    const text = texts.length === 0 ? null : (option.setting ?? '{parts}').replace('{parts}', () => joined);
    return [{ option, text, families: parts.flatMap((part) => part.families) }];
  });
}

interface Part {
  readonly text: string | null;
  readonly families: BucketSetting['families'];
}

function partOf(option: BucketOption, key: string, members: readonly FamilyToDivide[]): Part {
  const found = option.takes === 'list' ? listOf(option, members) : spacingFor(option, members);
  if (found === null) return { text: null, families: members.map(({ family, bounds }) => ({ family, bounds })) };
  const text = Object.entries({ key, ...found.written }).reduce(
    (part, [name, value]) => part.replaceAll(`{${name}}`, () => value),
    option.part,
  );
  return { text, families: members.map(({ family }) => ({ family, bounds: found.bounds })) };
}

interface FoundBounds {
  readonly bounds: readonly number[];
  /** What replaces the placeholders. */
  readonly written: Readonly<Record<string, string>>;
}

function listOf(option: BucketOption, members: readonly FamilyToDivide[]): FoundBounds | null {
  const all = members.flatMap(({ bounds, divided }) => [...bounds, ...divided.map(({ bound }) => bound)]);
  const bounds = [...new Set(all)].sort((a, b) => a - b);
  if (bounds.length > (option.most_bounds ?? Infinity)) return null;
  const listed = option.adds_zero === true ? bounds.filter((bound) => bound !== 0) : bounds;
  return { bounds, written: { bounds: listed.join(option.separator ?? ' ') } };
}

function spacingFor(option: BucketOption, members: readonly FamilyToDivide[]): FoundBounds | null {
  const bounds = members[0]?.bounds ?? [];
  const divided = members.flatMap((member) => member.divided);
  const spacing = finerSpacing(bounds, divided, option.most_bounds ?? MAX_BOUNDS);
  if (spacing === null) return null;
  const { min, max, count } = spacing;
  return {
    bounds: logSpacedBounds(spacing),
    written: { min: String(min), max: String(max), count: String(count) },
  };
}

/** More bounds than any server needs: a limit of the search. */
const MAX_BOUNDS = 512;
