import {
  CUSTOM_BUCKETS_SCHEMA,
  exponentialBound,
  MAX_SCHEMA,
  MIN_SCHEMA,
  type NativeBucket,
  type NativeHistogram,
} from '../../../core/histogram/native-histogram.ts';
import { isObject } from '../reading/fields.ts';

/** Which ends of a bucket belong to it, as Prometheus writes them: of positive or custom, negative, and zero buckets. */
const OPEN_LEFT = 0;
const OPEN_RIGHT = 1;
const CLOSED = 3;

interface RecordedBucket {
  readonly rule: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/**
 * A native histogram as the query API of Prometheus has it: count, sum and the buckets that are not empty, with their ends and
 * without the schema. If the ends are those of no exponential schema, they are the known ones of custom buckets. Null: it is none.
 */
export function recordedHistogram(value: unknown): NativeHistogram | null {
  if (!isObject(value)) return null;
  const { count: countText, sum: sumText, buckets: listed = [] } = value;
  const [count, sum] = [numberOf(countText), numberOf(sumText)];
  if (!Array.isArray(listed) || Number.isNaN(count)) return null;
  const buckets = listed.flatMap((each: unknown) => bucketOf(each) ?? []);
  if (buckets.length < listed.length) return null;
  const zero = buckets.find(({ rule }) => rule === CLOSED);
  const threshold = zero?.high ?? 0;
  const common = { count, sum, zeroThreshold: threshold, zeroCount: zero?.count ?? 0 };
  const sides = buckets.filter((bucket) => bucket !== zero);
  const schema = schemaOf(sides, threshold);
  if (schema !== null) {
    const side = (rule: number): readonly NativeBucket[] =>
      sides.filter((bucket) => bucket.rule === rule).map((bucket) => atSchema(bucket, schema));
    const byIndex = (a: NativeBucket, b: NativeBucket): number => a.index - b.index;
    return {
      ...{ ...common, schema, customBounds: null },
      positive: side(OPEN_LEFT).toSorted(byIndex),
      negative: side(OPEN_RIGHT).toSorted(byIndex),
    };
  }
  if (zero !== undefined || sides.some(({ rule }) => rule !== OPEN_LEFT)) return null;
  const ends = new Set(sides.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite));
  const customBounds = [...ends].sort((a, b) => a - b);
  const customIndex = (high: number): number => (high === Infinity ? customBounds.length : customBounds.indexOf(high));
  const positive = sides.map(({ low, high, count: own }) => ({ index: customIndex(high), low, high, count: own }));
  return { ...common, schema: CUSTOM_BUCKETS_SCHEMA, positive, negative: [], customBounds };
}

function bucketOf(value: unknown): RecordedBucket | null {
  if (!Array.isArray(value) || typeof value[0] !== 'number') return null;
  const [low, high, count] = [numberOf(value[1]), numberOf(value[2]), numberOf(value[3])];
  return low <= high && count >= 0 ? { rule: value[0], low, high, count } : null;
}

/** The finest schema in which each bucket has its place; one beside the zero bucket may begin at its end. Null: none. */
function schemaOf(buckets: readonly RecordedBucket[], zeroThreshold: number): number | null {
  for (let schema = MAX_SCHEMA; schema >= MIN_SCHEMA; schema--) {
    if (buckets.every((bucket) => fits(bucket, schema, zeroThreshold))) return schema;
  }
  return null;
}

function fits(bucket: RecordedBucket, schema: number, zeroThreshold: number): boolean {
  if (bucket.rule !== OPEN_LEFT && bucket.rule !== OPEN_RIGHT) return false;
  const [near, far] = distances(bucket);
  if (!(near >= 0)) return false;
  const index = indexOf(far, schema);
  const edge = exponentialBound(index - 1, schema);
  return exponentialBound(index, schema) === far && (edge === near || (near === zeroThreshold && edge < near));
}

function atSchema(bucket: RecordedBucket, schema: number): NativeBucket {
  const { low, high, count } = bucket;
  return { index: indexOf(distances(bucket)[1], schema), low, high, count };
}

/** The ends of a bucket by their distance from 0. */
const distances = ({ rule, low, high }: RecordedBucket): readonly [near: number, far: number] =>
  rule === OPEN_RIGHT ? [-high, -low] : [low, high];

/** The place in a schema of the bucket that ends there, if one does. */
function indexOf(far: number, schema: number): number {
  if (far === Infinity) return 1024 * 2 ** schema + 1;
  if (far === Number.MAX_VALUE) return 1024 * 2 ** schema;
  return Math.round(Math.log2(far) * 2 ** schema);
}

/** A number as this API writes it; NaN also of what is none. */
export function numberOf(text: unknown): number {
  if (typeof text !== 'string') return NaN;
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : text.trim() === '' ? NaN : Number(text);
}
