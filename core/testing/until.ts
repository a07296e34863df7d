/** Limits against hanging, not measures of speed: a busy machine may take its time. */
const LIMIT_SECONDS = 120;
const INTERVAL_MS = 5;

/**
 * For tests: calls `read` until its result is truthy, and returns that.
 *
 * @throws Error with the condition's source after `limitSeconds`
 */
export async function until<T>(
  read: () => T | Promise<T>,
  limitSeconds = LIMIT_SECONDS,
  intervalMs = INTERVAL_MS,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  for (const end = Date.now() + 1000 * limitSeconds; ;) {
    const value = await read();
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>;
    if (Date.now() > end) throw new Error(`not reached within ${limitSeconds} s: ${read.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
