export const FNV_PRIME = 0x01000193;
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
export class ByteInterner {
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
