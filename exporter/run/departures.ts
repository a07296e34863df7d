/** A page with more runs is too large to be scraped while the next one is measured. */
const MAX_DEPARTURES = 16;

/** Lines for the user, with the number of runs that they are about. */
export type DepartureLines = ReadonlyMap<string, number>;

/** The runs of a command that are published and wait for their scrapers while the next run is measured. */
export class Departures {
  readonly #pending = new Set<Promise<void>>();
  readonly #lines = new Map<string, number>();
  #failed: { readonly error: unknown } | null = null;

  add(departure: Promise<readonly string[]>): void {
    const settled: Promise<void> = departure.then(
      (lines) => {
        for (const line of lines) this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1);
        this.#pending.delete(settled);
      },
      (error: unknown) => {
        this.#failed ??= { error };
        this.#pending.delete(settled);
      },
    );
    this.#pending.add(settled);
  }

  get isFull(): boolean {
    return this.#pending.size >= MAX_DEPARTURES;
  }

  /** Waits until one more may be added. Throws the error of a run that could not wait. */
  async room(): Promise<void> {
    while (this.isFull) await Promise.race(this.#pending);
    this.#throwFailure();
  }

  /** Waits until all are gone. Throws the error of a run that could not wait. */
  async all(): Promise<DepartureLines> {
    await this.settled();
    this.#throwFailure();
    return this.#lines;
  }

  /** Waits until all are gone, with or without an error. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #throwFailure(): void {
    if (this.#failed !== null) throw this.#failed.error;
  }
}
