import type { Exemplar } from '../exposition.ts';
import type { NativeHistogram } from '../../histogram/native/native-histogram.ts';
import type { ParseLimits } from '../parse-options.ts';
import { readNative } from './native-buckets.ts';
import type { NativeFields } from './native-buckets.ts';
import { readCount, readDouble, readExemplar, readTimestamp } from './protobuf-values.ts';
import { FIXED64, VARINT } from './wire-reader.ts';
import type { WireReader } from './wire-reader.ts';

export interface ProtobufBucket {
  /** Cumulative. */
  readonly count: number;
  readonly bound: number;
  readonly exemplar: Exemplar | null;
}

/** Message Histogram: a classic one, a native one, or both of the same observations. */
export interface ProtobufHistogram {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly ProtobufBucket[];
  readonly createdSeconds: number | null;
  /** Null: classic only. */
  readonly native: NativeHistogram | null;
  /** Of the native histogram. */
  readonly exemplars: readonly Exemplar[];
}

export function readHistogram(reader: WireReader, limits: ParseLimits): ProtobufHistogram {
  const start = reader.at;
  const buckets: ProtobufBucket[] = [];
  const exemplars: Exemplar[] = [];
  let createdSeconds: number | null = null;
  const fields: NativeFields = {
    count: 0,
    sum: 0,
    countFloat: 0,
    schema: 0,
    zeroThreshold: 0,
    zeroCount: 0,
    zeroCountFloat: 0,
    positive: { spans: [], deltas: [], counts: [] },
    negative: { spans: [], deltas: [], counts: [] },
  };
  while (reader.next()) {
    const { field } = reader;
    if (field === 1) fields.count = readCount(reader);
    else if (field === 2) fields.sum = readDouble(reader);
    else if (field === 3) buckets.push(readBucket(reader.message('a bucket'), limits));
    else if (field === 4) fields.countFloat = readDouble(reader);
    else if (field === 5) {
      reader.expect(VARINT, 'a schema');
      fields.schema = reader.sint64();
    } else if (field === 6) fields.zeroThreshold = readDouble(reader);
    else if (field === 7) fields.zeroCount = readCount(reader);
    else if (field === 8) fields.zeroCountFloat = readDouble(reader);
    else if (field >= 9 && field <= 14) readSide(reader, field < 12 ? fields.negative : fields.positive, field % 3);
    else if (field === 15) createdSeconds = readTimestamp(reader.message('a start time'));
    else if (field === 16) exemplars.push(readExemplar(reader.message('an exemplar'), limits));
    else reader.skip();
  }
  const count = floatOrWhole(fields.countFloat, fields.count);
  const native = readNative(fields, (reason) => reader.error(start, reason));
  return { count, sum: fields.sum, buckets, createdSeconds, native, exemplars };
}

/** Fields 9 to 11 are the negative side's, 12 to 14 the positive side's: spans, deltas, counts. */
function readSide(reader: WireReader, side: NativeFields['positive'], kind: number): void {
  if (kind === 0) side.spans.push(readSpan(reader.message('a span')));
  else if (kind === 1) reader.repeated(VARINT, 'a bucket delta', (each) => void side.deltas.push(each.sint64()));
  else reader.repeated(FIXED64, 'a bucket count', (each) => void side.counts.push(each.double()));
}

function readSpan(reader: WireReader): { offset: number; length: number } {
  let offset = 0;
  let length = 0;
  while (reader.next()) {
    if (reader.field === 1 || reader.field === 2) reader.expect(VARINT, 'a span');
    if (reader.field === 1) offset = reader.sint64();
    else if (reader.field === 2) length = reader.uint64();
    else reader.skip();
  }
  return { offset, length };
}

function readBucket(reader: WireReader, limits: ParseLimits): ProtobufBucket {
  let count = 0;
  let countFloat = 0;
  let bound = 0;
  let exemplar: Exemplar | null = null;
  while (reader.next()) {
    if (reader.field === 1) count = readCount(reader);
    else if (reader.field === 2) bound = readDouble(reader);
    else if (reader.field === 3) exemplar = readExemplar(reader.message('an exemplar'), limits);
    else if (reader.field === 4) countFloat = readDouble(reader);
    else reader.skip();
  }
  return { count: floatOrWhole(countFloat, count), bound, exemplar };
}

/** A count of a histogram of floats, which may be NaN; 0 is that of a histogram of whole numbers. */
const floatOrWhole = (float: number, whole: number): number => (float > 0 || Number.isNaN(float) ? float : whole);
