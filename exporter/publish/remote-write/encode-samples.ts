import { CUSTOM_BUCKETS_SCHEMA } from '../../../core/histogram/native/native-histogram.ts';
import type { NativeBucket, NativeHistogram } from '../../../core/histogram/native/native-histogram.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

/** The stale marker, a NaN with these bits: 0x7ff0000000000002. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 2;

/** Message Sample, the same in both protocols. `value` null: the stale marker. `start_ms`: protocol 2.0 only. */
export function sampleMessage(time_ms: number, value: number | null, start_ms: number | null): Uint8Array {
  const writer = new ProtobufWriter();
  if (value === null) writer.doubleBits(1, STALE_HIGH, STALE_LOW);
  else writer.double(1, value);
  writer.uint(2, time_ms);
  if (start_ms !== null) writer.uint(3, start_ms);
  return writer.written;
}

/**
 * Message Histogram, the same in both protocols, of whole counts. `histogram` null: the stale marker. `start_ms`: protocol
 * 2.0 only.
 */
export function histogramMessage(
  time_ms: number,
  histogram: NativeHistogram | null,
  start_ms: number | null,
): Uint8Array {
  const writer = new ProtobufWriter();
  if (histogram === null) {
    writer.uintOfOne(1, 0);
    writer.doubleBits(3, STALE_HIGH, STALE_LOW);
  } else writeHistogram(writer, histogram);
  writer.uint(15, time_ms);
  if (histogram?.customBounds) writer.packedDoubles(16, histogram.customBounds);
  if (start_ms !== null) writer.uint(17, start_ms);
  return writer.written;
}

function writeHistogram(writer: ProtobufWriter, histogram: NativeHistogram): void {
  const { schema, positive, negative } = histogram;
  writer.uintOfOne(1, histogram.count);
  writer.double(3, histogram.sum);
  writer.sint(4, schema);
  if (schema !== CUSTOM_BUCKETS_SCHEMA) {
    writer.double(5, histogram.zeroThreshold);
    writer.uintOfOne(6, histogram.zeroCount);
  }
  writeSide(writer, 8, negative);
  writeSide(writer, 11, positive);
}

/** Spans of consecutive buckets, then the difference of each count from the previous one. */
function writeSide(writer: ProtobufWriter, firstField: number, buckets: readonly NativeBucket[]): void {
  const spans: { offset: number; length: number }[] = [];
  let end = 0;
  for (const { index } of buckets) {
    const last = spans.at(-1);
    if (last !== undefined && index === end) last.length += 1;
    else spans.push({ offset: index - end, length: 1 });
    end = index + 1;
  }
  for (const { offset, length } of spans) {
    const span = new ProtobufWriter();
    span.sint(1, offset);
    span.uint(2, length);
    writer.bytes(firstField, span.written);
  }
  const deltas = buckets.map(({ count }, i) => count - (buckets[i - 1]?.count ?? 0));
  if (deltas.length > 0) writer.packedSints(firstField + 1, deltas);
}
