import {
  coarserIndex,
  exponentialBound,
  MAX_SCHEMA,
  MIN_SCHEMA,
  CUSTOM_BUCKETS_SCHEMA,
  type NativeBucket,
  type NativeHistogram,
} from '../../histogram/native-histogram.ts';

/** Finest of the schemas that are reserved: read at `MAX_SCHEMA`, as Prometheus does. */
const MAX_RESERVED_SCHEMA = 52;
/** Indexes are 32-bit integers. */
const MAX_INDEX = 2 ** 31;

interface Side {
  readonly spans: { readonly offset: number; readonly length: number }[];
  /** Of integer histograms: each count as its difference from the one before. */
  readonly deltas: number[];
  /** Of float histograms. */
  readonly counts: number[];
}

/** The fields of message Histogram that a native histogram is made of. */
export interface NativeFields {
  count: number;
  sum: number;
  countFloat: number;
  schema: number;
  zeroThreshold: number;
  zeroCount: number;
  zeroCountFloat: number;
  readonly positive: Side;
  readonly negative: Side;
}

/**
 * The native histogram of these fields, or null when they are those of a classic one: no span, no zero bucket.
 * Contradictory fields are rejected, as in Prometheus; the format has no field for custom bounds, so their schema is
 * rejected.
 */
export function readNative(fields: NativeFields, error: (reason: string) => Error): NativeHistogram | null {
  const { positive, negative, zeroThreshold, schema } = fields;
  const isNative =
    positive.spans.length > 0 ||
    negative.spans.length > 0 ||
    zeroThreshold > 0 ||
    fields.zeroCount > 0 ||
    fields.zeroCountFloat > 0;
  if (!isNative) return null;
  if (schema === CUSTOM_BUCKETS_SCHEMA) throw error('a native histogram with custom buckets but without their bounds');
  if (!(schema >= MIN_SCHEMA && schema <= MAX_RESERVED_SCHEMA))
    throw error(`a native histogram of schema ${schema}, which is none of ${MIN_SCHEMA} to ${MAX_SCHEMA}`);
  if (!(zeroThreshold >= 0)) throw error('a zero bucket with a negative width');
  const isFloat =
    fields.countFloat > 0 || fields.zeroCountFloat > 0 || positive.counts.length > 0 || negative.counts.length > 0;
  const side = (each: Side, sign: 1 | -1): NativeBucket[] =>
    absolute(each, isFloat ? each.counts : each.deltas, isFloat, schema, sign, error);
  return {
    schema: Math.min(schema, MAX_SCHEMA),
    zeroThreshold,
    zeroCount: isFloat ? fields.zeroCountFloat : fields.zeroCount,
    count: isFloat ? fields.countFloat : fields.count,
    sum: fields.sum,
    positive: side(positive, 1),
    negative: side(negative, -1),
    customBounds: null,
  };
}

function absolute(
  { spans }: Side,
  numbers: readonly number[],
  isFloat: boolean,
  schema: number,
  sign: 1 | -1,
  error: (reason: string) => Error,
): NativeBucket[] {
  const wanted = spans.reduce((sum, { length }) => sum + length, 0);
  if (wanted !== numbers.length)
    throw error(`a native histogram whose spans need ${wanted} buckets and which has ${numbers.length}`);
  const coarser = Math.min(schema, MAX_SCHEMA);
  const counts = new Map<number, number>();
  let index = 0;
  let position = 0;
  let count = 0;
  for (const [i, { offset, length }] of spans.entries()) {
    if (i > 0 && offset < 0) throw error('a native histogram whose spans overlap');
    index += offset;
    for (let end = position + length; position < end; position++, index++) {
      const number = numbers[position] ?? NaN;
      count = isFloat ? number : count + number;
      if (!(count >= 0)) throw error('a native histogram with a negative bucket');
      const key = coarserIndex(index, schema, coarser);
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
    if (Math.abs(index) > MAX_INDEX) throw error('a native histogram with a bucket out of range');
  }
  return Array.from(counts, ([at, total]) => bucket(at, total, coarser, sign));
}

function bucket(index: number, count: number, schema: number, sign: 1 | -1): NativeBucket {
  const near = exponentialBound(index - 1, schema);
  const far = exponentialBound(index, schema);
  return sign > 0 ? { index, low: near, high: far, count } : { index, low: -far, high: -near, count };
}
