/** Statistics of a number that changes in steps, each value weighted by how long it lasted. */
export interface StepStatistics {
  readonly mean: number;
  /** Weighted by time, with the mean as given. */
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** The smallest value at or below which the number stayed for a share `q` of the time. */
  readonly quantile: (q: number) => number;
}

/**
 * How many intervals were open at once, from `from_ns` to `to_ns`: the concurrency that a load had, as AIPerf's sweep line
 * has it. `starts_ns` and `ends_ns` are those of the intervals, each in any order. Null when the window lasts no time.
 */
export function inFlightStatistics(
  starts_ns: Float64Array,
  ends_ns: Float64Array,
  from_ns: number,
  to_ns: number,
): StepStatistics | null {
  if (!(to_ns > from_ns)) return null;
  const time_ns = timeAtLevel(starts_ns.slice().sort(), ends_ns.slice().sort(), from_ns, to_ns);
  const levels = [...time_ns.keys()].sort((a, b) => a - b);
  const share = (level: number): number => (time_ns.get(level) ?? 0) / (to_ns - from_ns);
  const mean = levels.reduce((sum, level) => sum + level * share(level), 0);
  return {
    mean,
    std: Math.sqrt(levels.reduce((sum, level) => sum + (level - mean) ** 2 * share(level), 0)),
    min: levels[0] ?? 0,
    max: levels.at(-1) ?? 0,
    quantile: (q) => {
      let below = 0;
      for (const level of levels) {
        below += share(level);
        if (below >= q) return level;
      }
      return levels.at(-1) ?? 0;
    },
  };
}

/** How long each number in flight lasted within the window. */
function timeAtLevel(
  starts_ns: Float64Array,
  ends_ns: Float64Array,
  from_ns: number,
  to_ns: number,
): Map<number, number> {
  const time_ns = new Map<number, number>();
  let level = 0;
  let since = from_ns;
  const until = (at_ns: number): void => {
    const at = Math.min(Math.max(at_ns, from_ns), to_ns);
    if (at > since) time_ns.set(level, (time_ns.get(level) ?? 0) + at - since);
    since = Math.max(since, at);
  };
  let started = 0;
  let ended = 0;
  while (started < starts_ns.length || ended < ends_ns.length) {
    const start = starts_ns[started] ?? Infinity;
    const end = ends_ns[ended] ?? Infinity;
    until(Math.min(start, end));
    if (start < end) {
      level += 1;
      started += 1;
    } else {
      level -= 1;
      ended += 1;
    }
  }
  until(to_ns);
  return time_ns;
}
