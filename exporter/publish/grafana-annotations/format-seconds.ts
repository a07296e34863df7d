/** A duration for people, three digits: `84.2 ms`, `1.25 s`. */
export function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
