/** Schema of histograms whose bounds are listed instead of computed. */
export const CUSTOM_BUCKETS_SCHEMA = -53;

/** One bucket: positive ones hold (low, high], negative ones [low, high), custom ones (low, high]. */
export interface NativeBucket {
  /** Place in the schema: bucket i of schema s ends (for negative ones: begins, mirrored) at 2^(i·2^-s). */
  readonly index: number;
  readonly low: number;
  readonly high: number;
  /** Observations in this bucket alone. Not whole in a histogram of floats. */
  readonly count: number;
}

/**
 * A native histogram of Prometheus at one moment (specification "Native Histograms"). Values are in the family's unit.
 */
export interface NativeHistogram {
  /** −4 to 8: each power of 2 is divided into 2^schema buckets. `CUSTOM_BUCKETS_SCHEMA`: bounds as listed. */
  readonly schema: number;
  /** The zero bucket holds [−zeroThreshold, zeroThreshold]. */
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  /** All observations; those that were NaN are in no bucket. */
  readonly count: number;
  /** NaN when NaN, or both infinities, were observed. */
  readonly sum: number;
  /** Ascending by index; those between the spans are empty and left out. */
  readonly positive: readonly NativeBucket[];
  /** Ascending by index: from 0 downwards. */
  readonly negative: readonly NativeBucket[];
  /** Upper bounds of the custom buckets but the last, which ends at +Infinity; null with an exponential schema. */
  readonly customBounds: readonly number[] | null;
}
