import type { IndexedRun } from '../store/index/rows.ts';

export type PairSide = 'a' | 'b';

/** Marks the runs of a pair that was measured again; they are kept and not compared. */
export const DISCARDED_TAG = 'discarded-pair';

export type PairRun = Pick<IndexedRun, 'run_id' | 'status' | 'damage' | 'tags'>;

/**
 * The runs of a comparison of two servers in pairs, by their names: `ID-03b` is of side B of the third pair, and `ID-03b-2`
 * its second try. Pairs count from 0.
 */
export class PairRuns {
  readonly #id: string;
  readonly #runs: Map<string, PairRun>;

  /** Takes the runs of the comparison from all that are stored. */
  constructor(id: string, stored: readonly PairRun[]) {
    this.#id = id;
    this.#runs = new Map(
      stored.filter(({ run_id }) => run_id.startsWith(`${id}-`)).map((run) => [run.run_id, run] as const),
    );
  }

  /** Adds a run, or replaces what is known of it. */
  set(run: PairRun): void {
    this.#runs.set(run.run_id, run);
  }

  /** The name of the next run of this side. */
  nextName(pair: number, side: PairSide): string {
    const tries = this.#tries(pair, side).length;
    return `${this.#firstName(pair, side)}${tries === 0 ? '' : `-${tries + 1}`}`;
  }

  /** The run of this side that is compared; null while there is none. */
  usable(pair: number, side: PairSide): PairRun | null {
    const isUsable = ({ status, damage, tags }: PairRun): boolean =>
      status === 'completed' && damage === null && !tags.includes(DISCARDED_TAG);
    return this.#tries(pair, side).find(isUsable) ?? null;
  }

  /** How often the pair was discarded. */
  discarded(pair: number): number {
    const ofSide = (side: PairSide): number =>
      this.#tries(pair, side).filter(({ tags }) => tags.includes(DISCARDED_TAG)).length;
    return Math.max(ofSide('a'), ofSide('b'));
  }

  #tries(pair: number, side: PairSide): readonly PairRun[] {
    const first = this.#firstName(pair, side);
    return [...this.#runs.values()].filter(({ run_id }) => run_id === first || run_id.startsWith(`${first}-`));
  }

  #firstName(pair: number, side: PairSide): string {
    return `${this.#id}-${String(pair + 1).padStart(2, '0')}${side}`;
  }
}

/** The order of a pair: A B, B A, B A, A B, and again, so that neither a trend nor a cycle favors a side. */
export function orderOfPair(pair: number): readonly [PairSide, PairSide] {
  return pair % 4 === 0 || pair % 4 === 3 ? ['a', 'b'] : ['b', 'a'];
}
