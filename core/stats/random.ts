/** Rounds after seeding, so that close seeds give unrelated numbers (as PractRand's sfc32 does). */
const WARM_UP_ROUNDS = 12;

/**
 * A seeded generator of whole numbers 0 to 2^32 - 1: sfc32, the "small fast counting" generator of Chris Doty-Humphrey's
 * PractRand. The same seed (a whole number, used modulo 2^32) gives the same numbers everywhere. Not for secrets.
 */
export function sfc32(seed: number): () => number {
  let a = 0;
  let b = seed | 0;
  let c = 0;
  let counter = 1;
  const next = (): number => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result;
    c |= 0;
    return result >>> 0;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) next();
  return next;
}
