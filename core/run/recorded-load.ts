/** The load of servers as a Prometheus recorded it, which a run reproduces. */
export interface RecordedLoad {
  /** The address without credentials, and the selector of the series. */
  readonly prometheus: string;
  readonly selector: string;
  /** RFC 3339 in UTC. */
  readonly start: string;
  readonly end: string;
  /** The time of the plan is that of the source divided by it; the rate stays that of the source. */
  readonly compress: number;
  /** The rate of the plan is that of the source times it. */
  readonly scale: number;
  /** Of the source's time. */
  readonly slot_seconds: number;
  /** Requests of the source in each slot of the window, in order. */
  readonly requests: readonly number[];
  /** Lengths of prompts and responses; null: the servers expose no histogram of them, or with different bounds. */
  readonly input_tokens: TokenCounts;
  readonly output_tokens: TokenCounts | null;
  /** Share of the prompt tokens that a cache of the servers supplied, 0 to 1; null: they do not expose it. */
  readonly cached_input_ratio: number | null;
}

/** How many requests have lengths in the buckets of a histogram. */
export interface TokenCounts {
  /** Finite upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** In each bucket, and at last above the last bound. */
  readonly counts: readonly number[];
  readonly mean: number;
}

/** Lengths of the requests of one slot, per bucket of the source; null: those of the whole window. */
export interface SlotLengths {
  readonly input: readonly number[] | null;
  readonly output: readonly number[] | null;
}

/** A recorded load with its course, from which a plan is made. */
export interface LoadCourse {
  readonly source: RecordedLoad;
  /** By slot. */
  readonly lengths: readonly SlotLengths[];
}

/** Whether what was read is such a load. */
export function isRecordedLoad(value: unknown): value is RecordedLoad {
  if (typeof value !== 'object' || value === null) return false;
  const { compress, scale, slot_seconds, requests, input_tokens, output_tokens, cached_input_ratio } = value as Partial<
    Record<keyof RecordedLoad, unknown>
  >;
  const isAbove0 = (number: unknown): boolean => typeof number === 'number' && number > 0 && Number.isFinite(number);
  return (
    [compress, scale, slot_seconds].every(isAbove0) &&
    isCounts(requests) &&
    isTokenCounts(input_tokens) &&
    (output_tokens === null || isTokenCounts(output_tokens)) &&
    (cached_input_ratio === null || typeof cached_input_ratio === 'number')
  );
}

const isCounts = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((count) => typeof count === 'number' && count >= 0);

function isTokenCounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { bounds, counts, mean } = value as Partial<Record<keyof TokenCounts, unknown>>;
  return isCounts(bounds) && isCounts(counts) && counts.length === bounds.length + 1 && typeof mean === 'number';
}

/** Seconds of the plan: of the window, compressed. */
export function planSeconds({ requests, slot_seconds, compress }: RecordedLoad): number {
  return (requests.length * slot_seconds) / compress;
}

/** Requests per second that the plan has on average. */
export function planRate(source: RecordedLoad): number {
  const seconds = source.requests.length * source.slot_seconds;
  return (source.scale * source.requests.reduce((sum, n) => sum + n, 0)) / seconds;
}
