/** A source of numbers in [0, 1). */
export type Random = () => number;

/**
 * The mulberry32 generator: 32 bits of state, the same sequence for the same seed on every platform.
 *
 * @param seed any integer; its lowest 32 bits count
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
