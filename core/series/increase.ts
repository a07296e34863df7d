/** One scrape of a counter; value null = it was not there. */
export interface CounterSample {
  /** Time of the scrape, milliseconds since 1970. */
  readonly timeMs: number;
  readonly value: number | null;
}

/** What a counter gained between its first and its last sample. */
export interface CounterIncrease {
  /** In the counter's unit, never below 0. */
  increase: number;
  /** How often it began anew. */
  resets: number;
  fromMs: number;
  toMs: number;
}

/**
 * The increase of a counter over samples in the order of time.
 *
 * A value below its predecessor is a reset: the new value counts fully, as in Prometheus. Nothing is extrapolated to
 * the edges of a window. Samples that are null or NaN are gaps, and the increase over a gap is the difference of the
 * values around it. `bornAtZero`: the series was missing from a successful scrape of the same target before the first
 * value, so it began at 0 and the first value counts fully.
 *
 * Null when there are fewer than two values (with `bornAtZero`: fewer than one): nothing is known, which is not 0.
 */
export function counterIncrease(
  samples: readonly CounterSample[],
  options: { bornAtZero?: boolean } = {},
): CounterIncrease | null {
  const known = samples.filter(isKnown);
  const [first, ...rest] = known;
  const bornAtZero = options.bornAtZero === true;
  if (first === undefined || (rest.length === 0 && !bornAtZero)) return null;
  let increase = bornAtZero ? first.value : 0;
  let resets = 0;
  let previous = first;
  for (const sample of rest) {
    const reset = sample.value < previous.value;
    if (reset) resets++;
    increase += reset ? sample.value : sample.value - previous.value;
    previous = sample;
  }
  return { increase, resets, fromMs: first.timeMs, toMs: previous.timeMs };
}

function isKnown(sample: CounterSample): sample is { timeMs: number; value: number } {
  return sample.value !== null && !Number.isNaN(sample.value);
}
