import { seededRandom } from '../seeded-random.ts';

/** Values of `--dataset-sampling-strategy`. */
export const SAMPLING_STRATEGIES = ['sequential', 'random', 'shuffle'] as const;
export type SamplingStrategy = (typeof SAMPLING_STRATEGIES)[number];

/** Which entry of a file is sent at a position of a phase. */
export type EntryOrder = (phase: string, position: number) => number;

/**
 * `sequential`: as they stand, and again from the beginning; `shuffle`: each once in a random order, then each once in
 * another one; `random`: any of them each time. Except for `random`, warm-up and probe take theirs from the other end, so
 * that what is measured is not warm.
 */
export function entryOrder(strategy: SamplingStrategy, count: number, seed: number): EntryOrder {
  if (strategy === 'random')
    return (phase, position) => Math.floor(seededRandom(`${seed}/${phase}/${position}/entry`)() * count);
  const ordered = strategy === 'sequential' ? (position: number): number => position % count : shuffled(count, seed);
  return (phase, position) => ordered(phase === 'measure' ? position : count - 1 - (position % count));
}

function shuffled(count: number, seed: number): (position: number) => number {
  let round = -1;
  let order = new Uint32Array(0);
  return (position) => {
    const wanted = Math.floor(position / count);
    if (wanted !== round) {
      round = wanted;
      order = permutation(count, `${seed}/shuffle/${round}`);
    }
    return order[position % count] ?? 0;
  };
}

/** Fisher and Yates. */
function permutation(count: number, key: string): Uint32Array<ArrayBuffer> {
  const random = seededRandom(key);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swapped = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = swapped;
  }
  return order;
}
