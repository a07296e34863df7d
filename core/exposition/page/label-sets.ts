import { FNV_PRIME, FNV_START } from './byte-interner.ts';
import type { Labels } from '../exposition.ts';

type Pairs = readonly (readonly [string, string])[];

/** A number that equal label sets share, whatever the order of their labels: the sum of FNV-1a of each. */
function fingerprint(pairs: Pairs): number {
  let sum = 0;
  for (const [name, value] of pairs) sum = (sum + hashText(value, hashText(name, FNV_START))) | 0;
  return sum;
}

function hashText(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash;
}

/** Inherits nothing. Objects of one constructor share their shapes, which those of `Object.create(null)` do not. */
const LabelObject = function () {} as unknown as new () => Record<string, string>;
LabelObject.prototype = Object.freeze(Object.create(null) as object);

/** A frozen object that inherits nothing, so that `__proto__` and `toString` are labels like any other. */
export function makeLabels(pairs: Iterable<readonly [string, string]>): Labels {
  const labels = new LabelObject();
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
  /** By fingerprint: the set that came last. */
  private readonly lastOf = new Map<number, number>();
  /** The set before, with the same fingerprint; −1: none. */
  private readonly previous: number[] = [];

  /** The names in `pairs` are unique. */
  intern(pairs: Pairs): number {
    const print = fingerprint(pairs);
    for (let id = this.lastOf.get(print) ?? -1; id >= 0; id = this.previous[id] as number) {
      if (this.isSet(id, pairs)) return id;
    }
    const full = pairs.every(([, value]) => value !== '') ? null : pairs.filter(([, value]) => value !== '');
    const identity = full === null ? null : this.intern(full);
    const id = this.sets.push(makeLabels(pairs)) - 1;
    this.sizes.push(pairs.length);
    this.identities.push(identity ?? id);
    this.previous.push(this.lastOf.get(print) ?? -1);
    this.lastOf.set(print, id);
    return id;
  }

  private isSet(id: number, pairs: Pairs): boolean {
    const labels = this.sets[id] as Labels;
    return this.sizes[id] === pairs.length && pairs.every(([name, value]) => labels[name] === value);
  }
}
