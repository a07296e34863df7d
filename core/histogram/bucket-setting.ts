import type { DividedBucket } from './bucket-advice.ts';
import { finerSpacing, logSpacedBounds } from './log-spaced-bounds.ts';

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
