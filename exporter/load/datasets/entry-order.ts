import { seededRandom } from '../../../core/stats/seeded-random.ts';

/** Values of `--dataset-sampling-strategy`. */
export const SAMPLING_STRATEGIES = ['sequential', 'random', 'shuffle'] as const;
export type SamplingStrategy = (typeof SAMPLING_STRATEGIES)[number];

/** Maps a position of a phase to the entry of a file that is sent. */
export type EntryOrder = (phase: string, position: number) => number;

/**
 * `sequential`: in file order, then again from the beginning; `shuffle`: each entry once in a random order, then each
 * once in another order; `random`: a random entry each time. Except for `random`, warm-up and probe take their entries
 * from the other end, so that the measured requests do not hit a warm cache.
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

/** Fisher-Yates shuffle. */
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
