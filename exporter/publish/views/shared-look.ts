import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 1_000;

/**
 * Looks at something one at a time: callers who come together share one look. While `isFilling`, so that each look finds
 * thousands of runs that have just come, callers receive after a second what the look before found.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  readonly #isFilling: () => boolean;
  #last: { readonly found: T } | null = null;
  #looking: Promise<T> | null = null;

  constructor(look: () => Promise<T>, isFilling: () => boolean) {
    this.#look = look;
    this.#isFilling = isFilling;
  }

  /** Rejects as the look does. */
  async ask(): Promise<T> {
    this.#looking ??= this.#once();
    const last = this.#last;
    if (last === null || !this.#isFilling()) return this.#looking;
    return Promise.race([this.#looking, pause(PATIENCE_MS, last.found)]);
  }

  async #once(): Promise<T> {
    try {
      const found = await this.#look();
      this.#last = { found };
      return found;
    } finally {
      this.#looking = null;
    }
  }
}
