import type { Random } from '../../core/stats/seeded-random.ts';

const CONSONANTS = 'bdfghklmnprstvwz';
const VOWELS = 'aeiou';

/** Made-up words with a blank before them, as tokens are; plain letters, so that they stand in JSON as they are. */
export function makeVocabulary(random: Random, size: number): string[] {
  const letter = (letters: string): string => letters[Math.floor(random() * letters.length)] ?? '';
  return Array.from({ length: size }, () => {
    let word = ' ';
    for (let syllables = 1 + Math.floor(random() * 3); syllables > 0; syllables--) {
      word += letter(CONSONANTS) + letter(VOWELS);
    }
    return word;
  });
}
