import type { BucketCounts } from '../../../../core/run/servers-file.ts';

/** Marks whole numbers beyond 2^53 until the text is written; a control character that no label contains. */
const MARK = '\u0001ns:';

/** Preserves the order of a key: an object lists integer keys first. */
const KEY_MARK = '\u0001le:';

/** Buckets as an object whose keys are written in the order given. */
export function orderedBuckets(buckets: BucketCounts): Record<string, number> {
  return Object.fromEntries(buckets.map(([le, count]) => [`${KEY_MARK}${le}`, count]));
}

/** JSON with whole numbers of any size, and buckets in their order. `indent` 0: one line. */
export function jsonText(value: unknown, indent = 0): string {
  const marked = JSON.stringify(
    value,
    (_key, each: unknown) => (typeof each === 'bigint' ? `${MARK}${each}` : each),
    indent,
  );
  return marked.replace(/"\\u0001ns:(-?\d+)"/g, '$1').replaceAll('"\\u0001le:', '"');
}
