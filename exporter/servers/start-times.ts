/** Start times closer than this are one: some clients compute theirs anew from a clock that is adjusted. */
export const TOLERANCE_SECONDS = 1;

export type StartTimeVerdict = 'same' | 'restarted' | 'several_servers';

/**
 * Follows the start times on one target's pages. A process that begins anew begins later; one that seems to have begun
 * earlier than the one before is another process: several servers behind one address.
 */
export class StartTimes {
  readonly #byKey = new Map<string, number>();

  /** `times`: by series, Unix seconds. */
  see(times: Iterable<readonly [key: string, seconds: number]>): StartTimeVerdict {
    let verdict: StartTimeVerdict = 'same';
    for (const [key, seconds] of times) {
      if (!Number.isFinite(seconds)) continue;
      const before = this.#byKey.get(key);
      if (before !== undefined && seconds < before - TOLERANCE_SECONDS) return 'several_servers';
      if (before !== undefined && seconds > before + TOLERANCE_SECONDS) verdict = 'restarted';
      if (before === undefined || verdict === 'restarted') this.#byKey.set(key, seconds);
    }
    return verdict;
  }

  /** The newest by series, Unix seconds. */
  get all(): ReadonlyMap<string, number> {
    return this.#byKey;
  }

  get known(): boolean {
    return this.#byKey.size > 0;
  }
}
