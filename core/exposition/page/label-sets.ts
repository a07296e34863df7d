import type { Labels } from '../exposition.ts';

/** Canonical text of a label set: equal for equal sets, whatever the order. The lengths keep any two sets apart. */
export function labelSetKey(pairs: readonly (readonly [string, string])[]): string {
  const sorted = pairs.length < 2 ? pairs : [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let key = '';
  for (const [name, value] of sorted) key += `${name.length} ${value.length} ${name}${value}`;
  return key;
}

/** A frozen object without prototype, so that `__proto__` and `toString` are labels like any other. */
export function makeLabels(pairs: Iterable<readonly [string, string]>): Labels {
  const labels = Object.create(null) as Record<string, string>;
  for (const [name, value] of pairs) labels[name] = value;
  return Object.freeze(labels);
}

/** Every label set seen, once. */
export class LabelSets {
  readonly sets: Labels[] = [];
  /** Labels in the set of that id. */
  readonly sizes: number[] = [];
  /** Id that sets share when they differ only by empty labels, which mean "no such label". */
  readonly identities: number[] = [];
  private readonly byKey = new Map<string, number>();

  /** The names in `pairs` are unique. */
  intern(pairs: readonly (readonly [string, string])[]): number {
    const key = labelSetKey(pairs);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const full = pairs.every(([, value]) => value !== '') ? pairs : pairs.filter(([, value]) => value !== '');
    const identity = full.length === pairs.length ? this.sets.length : this.intern(full);
    const id = this.sets.length;
    this.sets.push(makeLabels(pairs));
    this.sizes.push(pairs.length);
    this.identities.push(full.length === pairs.length ? id : identity);
    this.byKey.set(key, id);
    return id;
  }
}
