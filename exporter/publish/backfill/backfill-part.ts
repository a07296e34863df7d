import type { TimedSeries } from '../remote-write/finished-series.ts';

/** Some series with their times, of a source that gives them in the order of time. */
export interface BackfillPart {
  /** No sample of it, nor of the parts that follow, is older; milliseconds since the epoch. */
  readonly start_ms: number;
  readonly series: readonly TimedSeries[];
}

/** The parts of two sources in the order of time. */
export async function* inOrderOfTime(
  first: AsyncIterable<BackfillPart>,
  second: Iterable<BackfillPart>,
): AsyncGenerator<BackfillPart> {
  const others = second[Symbol.iterator]();
  let other = others.next();
  for await (const part of first) {
    for (; other.done !== true && other.value.start_ms <= part.start_ms; other = others.next()) yield other.value;
    yield part;
  }
  for (; other.done !== true; other = others.next()) yield other.value;
}
