import type { Labels } from '../exposition.ts';

const FNV_PRIME = 0x01000193;
export const FNV_START = 0x811c9dc5 | 0;

/** FNV-1a over bytes[start, end), continued from `hash`. */
export function hashBytes(bytes: Uint8Array, start: number, end: number, hash: number): number {
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), FNV_PRIME);
  return hash;
}

/** Copies a few bytes: faster for keys than a view of them. */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > 512) to.set(from.subarray(start, end), at);
  else for (let i = start; i < end; i++) to[at + i - start] = from[i] as number;
}

/**
 * A dictionary from byte strings to small integers that keeps its own copy of the keys, so that no page stays alive.
 * A key is given as two pieces (the second may be empty).
 */
class ByteInterner {
  private slots = new Int32Array(256).fill(-1);
  private hashes = new Int32Array(128);
  private starts = new Int32Array(129);
  private ids = new Int32Array(128);
  private arena = new Uint8Array(4096);
  /** Keys held. */
  size = 0;

  /** The id of a key whose hash over both pieces is known, or −1. */
  find(bytes: Uint8Array, hash: number, start: number, end: number, start2: number, end2: number): number {
    const { slots, hashes, starts, arena } = this;
    const mask = slots.length - 1;
    const length = end - start;
    const length2 = end2 - start2;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] as number;
      if (entry < 0) return -1;
      if (hashes[entry] !== hash) continue;
      const at = starts[entry] as number;
      if ((starts[entry + 1] as number) - at !== length + length2) continue;
      let i = 0;
      while (i < length && arena[at + i] === bytes[start + i]) i++;
      if (i < length) continue;
      i = 0;
      while (i < length2 && arena[at + length + i] === bytes[start2 + i]) i++;
      if (i === length2) return this.ids[entry] as number;
    }
  }

  /** Adds a key that `find` did not find. */
  add(bytes: Uint8Array, hash: number, start: number, end: number, start2: number, end2: number, id: number): void {
    const entry = this.size++;
    if (entry === this.hashes.length) this.growEntries();
    const at = this.starts[entry] as number;
    const length = end - start;
    const next = at + length + end2 - start2;
    if (next > this.arena.length) this.growArena(next);
    copyBytes(bytes, start, end, this.arena, at);
    copyBytes(bytes, start2, end2, this.arena, at + length);
    this.starts[entry + 1] = next;
    this.hashes[entry] = hash;
    this.ids[entry] = id;
    if (this.size * 2 > this.slots.length) this.rehash();
    else this.place(entry);
  }

  private place(entry: number): void {
    const mask = this.slots.length - 1;
    let slot = spread(this.hashes[entry] as number) & mask;
    while ((this.slots[slot] as number) >= 0) slot = (slot + 1) & mask;
    this.slots[slot] = entry;
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1);
    for (let entry = 0; entry < this.size; entry++) this.place(entry);
  }

  private growEntries(): void {
    const capacity = this.hashes.length * 2;
    this.hashes = grown(this.hashes, capacity);
    this.ids = grown(this.ids, capacity);
    this.starts = grown(this.starts, capacity + 1);
  }

  private growArena(needed: number): void {
    const arena = new Uint8Array(Math.max(needed, this.arena.length * 2));
    arena.set(this.arena);
    this.arena = arena;
  }
}

function grown(old: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const bigger = new Int32Array(capacity);
  bigger.set(old);
  return bigger;
}

/** FNV's low bits are similar for similar keys: mix in the high ones. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}

/** Whether `length` bytes at two places are the same. */
export function equalBytes(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  if (length < 16) return equalFew(a, atA, b, atB, length);
  // The last sixteen overlap those before them, so that no rest is left.
  const last = length - 16;
  for (let i = 0; i < last; i += 16) if (!equalSixteen(a, atA + i, b, atB + i)) return false;
  return equalSixteen(a, atA + last, b, atB + last);
}

function equalFew(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  let i = 0;
  for (; i + 4 <= length; i += 4) if (a.getUint32(atA + i) !== b.getUint32(atB + i)) return false;
  for (; i < length; i++) if (a.getUint8(atA + i) !== b.getUint8(atB + i)) return false;
  return true;
}

/**
 * Eight at a time as doubles. Equal doubles have equal bytes but for ±0, and unequal ones differ but for NaN: those two
 * are compared as integers.
 */
function equalSixteen(a: DataView, atA: number, b: DataView, atB: number): boolean {
  const first = a.getFloat64(atA, true);
  const second = a.getFloat64(atA + 8, true);
  const equal = first === b.getFloat64(atB, true) && second === b.getFloat64(atB + 8, true);
  if (equal && first * second !== 0) return true;
  return equalWords(a, atA, b, atB) && equalWords(a, atA + 8, b, atB + 8);
}

function equalWords(a: DataView, atA: number, b: DataView, atB: number): boolean {
  return a.getUint32(atA) === b.getUint32(atB) && a.getUint32(atA + 4) === b.getUint32(atB + 4);
}

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
class LabelSets {
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

/**
 * Each repeated part of a page's lines, once: metric names, label sets, values of `le`. Ids stay valid; nothing is
 * removed.
 */
export class Dictionaries {
  readonly names: string[] = [];
  /** Whether the name of that id ends in `_bucket`. */
  readonly bucketNames: boolean[] = [];
  readonly bounds: string[] = [];
  readonly labelSets = new LabelSets();
  /** Maps the bytes of a page to ids; several spellings may have one id. */
  readonly nameBytes = new ByteInterner();
  readonly labelBytes = new ByteInterner();
  readonly boundBytes = new ByteInterner();
  readonly emptySet: number;
  private readonly nameIds = new Map<string, number>();
  private readonly boundIds = new Map<string, number>();

  constructor() {
    this.emptySet = this.labelSets.intern([]);
    this.labelBytes.add(new Uint8Array(0), FNV_START, 0, 0, 0, 0, this.emptySet);
  }

  internName(name: string): number {
    let id = this.nameIds.get(name);
    if (id === undefined) {
      id = this.names.push(name) - 1;
      this.bucketNames.push(name.endsWith('_bucket'));
      this.nameIds.set(name, id);
    }
    return id;
  }

  internBound(bound: string): number {
    let id = this.boundIds.get(bound);
    if (id === undefined) {
      id = this.bounds.push(bound) - 1;
      this.boundIds.set(bound, id);
    }
    return id;
  }

  /** Entries of all kinds: decides when to start with empty dictionaries. */
  get size(): number {
    return this.names.length + this.bounds.length + this.labelSets.sets.length + this.labelBytes.size;
  }
}
