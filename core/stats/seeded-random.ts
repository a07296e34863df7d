/** A generator of numbers in [0, 1), the same for the same key on every machine. Not for secrets. */
export type Random = () => number;

/** Rounds after seeding, because the first outputs still resemble the seed (as in PractRand's sfc32). */
const WARM_UP_ROUNDS = 12;

/** Numbers in [0, 1), seeded by four hashes of the key; a number is the key that it is written as. */
export function seededRandom(seed: string | number): Random {
  const key = String(seed);
  const a = fnv1a(key, 0x811c9dc5);
  const b = fnv1a(key, 0x01000193 ^ a);
  const c = fnv1a(key, 0x9e3779b9 ^ b);
  const next = generator(a, b, c, fnv1a(key, 0x85ebca6b ^ c));
  return () => next() / 2 ** 32;
}

/** A normally distributed number (Box-Muller); the mean itself without a standard deviation. */
export function drawNormal(mean: number, stddev: number, random: Random): number {
  if (stddev === 0) return mean;
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return mean + stddev * radius * Math.cos(2 * Math.PI * random());
}

/** Whole numbers 0 to 2^32 − 1, seeded by a whole number, which is used modulo 2^32. */
export function sfc32(seed: number): () => number {
  return generator(0, seed | 0, 0, 1);
}

/** sfc32, the "small fast counting" generator of Chris Doty-Humphrey's PractRand. */
function generator(a: number, b: number, c: number, counter: number): () => number {
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) next();
  return next;
}

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
