/** Blocks that one request looked for below the device, and found in each tier. */
interface Lookup {
  readonly queried: number;
  readonly found: readonly number[];
}

const REQUESTS = 1000;

/** Hit rates over the last thousand requests. */
export class HitWindow {
  #lookups: Lookup[] = [];

  add(lookup: Lookup): void {
    this.#lookups.push(lookup);
    // Cut off now and then, not each time.
    if (this.#lookups.length >= 2 * REQUESTS) this.#lookups = this.#lookups.slice(-REQUESTS);
  }

  /** From 0 to 1; 0 while nothing was looked for. */
  rate(tier: number): number {
    const recent = this.#lookups.slice(-REQUESTS);
    const queried = recent.reduce((sum, lookup) => sum + lookup.queried, 0);
    const found = recent.reduce((sum, lookup) => sum + (lookup.found[tier] ?? 0), 0);
    return queried === 0 ? 0 : found / queried;
  }
}
