import { Unavailable } from './workshop.ts';
import type { BenchContext } from './bench.ts';

/**
 * Runs the competitors one after the other, A B A B …, as often as there are rounds, and gives what each measured, one
 * per round. A competitor that is unavailable or fails is reported once and is not in the result, so that the numbers of
 * all others belong to the same rounds.
 */
export async function inTurn<T>(
  rounds: number,
  competitors: Readonly<Record<string, () => Promise<T>>>,
  context: Pick<BenchContext, 'skipped' | 'failed'>,
): Promise<Map<string, T[]>> {
  const measured = new Map<string, T[]>(Object.keys(competitors).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(competitors)) {
      const results = measured.get(name);
      if (results === undefined) continue;
      try {
        results.push(await measure());
      } catch (error) {
        measured.delete(name);
        if (error instanceof Unavailable) context.skipped(name, error.message);
        else context.failed(name, error);
      }
    }
  }
  return measured;
}
