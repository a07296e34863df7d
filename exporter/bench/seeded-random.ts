/** A generator of numbers in [0, 1), the same for the same key on every machine. */
export type Random = () => number;

/** sfc32 (Chris Doty-Humphrey's Small Fast Counting generator), seeded by four hashes of the key. */
export function seededRandom(key: string): Random {
  let a = fnv1a(key, 0x811c9dc5);
  let b = fnv1a(key, 0x01000193 ^ a);
  let c = fnv1a(key, 0x9e3779b9 ^ b);
  let counter = fnv1a(key, 0x85ebca6b ^ c);
  const random = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first outputs still resemble the seed.
  for (let i = 0; i < 12; i++) random();
  return random;
}

function fnv1a(text: string, basis: number): number {
  let hash = basis;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
