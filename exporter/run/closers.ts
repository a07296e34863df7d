type Close = () => unknown;

/**
 * Closes resources in reverse order: an `AsyncDisposableStack`, which Node provides from version 24 on. Every resource
 * is closed even when another fails to close.
 */
export class Closers {
  readonly #closers: Close[] = [];

  add(close: Close): void {
    this.#closers.push(close);
  }

  /** Throws the error of the last resource that failed, after all were closed, as nested `finally` blocks do. */
  async close(): Promise<void> {
    let failed: { readonly error: unknown } | null = null;
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failed = { error };
      }
    }
    if (failed !== null) throw failed.error;
  }
}
