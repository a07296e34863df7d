import {
  type NativeHistogram,
  coarserIndex,
  exponentialBound,
  MAX_SCHEMA,
  MIN_SCHEMA,
  CUSTOM_BUCKETS_SCHEMA,
  type NativeBucket,
} from '../../histogram/native-histogram.ts';
import type { Exemplar, ParseLimits, MetricType } from '../exposition.ts';
import { makeLabels } from '../page/byte-interner.ts';
import { shortHelp } from '../page/read-page.ts';
import { FIXED64, VARINT, type WireReader } from './wire-reader.ts';

export type LabelPairs = [name: string, value: string][];

/** Message LabelPair. */
function readLabel(reader: WireReader, limits: ParseLimits): [string, string] {
  const start = reader.at;
  let name = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) name = reader.string('a label name', limits.maxLabelNameBytes);
    else if (reader.field === 2) value = reader.string('a label value', limits.maxLabelValueBytes);
    else reader.skip();
  }
  if (name === '') throw reader.error(start, 'a label name is empty');
  if (name === '__name__') throw reader.error(start, '"__name__" cannot be a label');
  return [name, value];
}

/** Message Exemplar. */
function readExemplar(reader: WireReader, limits: ParseLimits): Exemplar {
  const pairs: LabelPairs = [];
  let value = 0;
  let timestampSeconds: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) pairs.push(readLabel(reader.message('a label'), limits));
    else if (reader.field === 2) value = readDouble(reader);
    else if (reader.field === 3) timestampSeconds = readTimestamp(reader.message('a timestamp'));
    else reader.skip();
    if (pairs.length > limits.maxLabels) throw reader.error(reader.at, `more than ${limits.maxLabels} labels`);
  }
  return { labels: makeLabels(pairs), value, timestampSeconds };
}

/** Message google.protobuf.Timestamp. */
function readTimestamp(reader: WireReader): number {
  let seconds = 0;
  let nanoseconds = 0;
  while (reader.next()) {
    if (reader.field === 1 || reader.field === 2) reader.expect(VARINT, 'a time');
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanoseconds = reader.int64();
    else reader.skip();
  }
  return seconds + nanoseconds / 1e9;
}

function readDouble(reader: WireReader): number {
  reader.expect(FIXED64, 'a number');
  return reader.double();
}

function readCount(reader: WireReader): number {
  reader.expect(VARINT, 'a count');
  return reader.uint64();
}

interface ProtobufBucket {
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

function readHistogram(reader: WireReader, limits: ParseLimits): ProtobufHistogram {
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

/** Counter, Gauge or Untyped. */
export interface ProtobufNumber {
  readonly value: number;
  readonly exemplar: Exemplar | null;
  readonly createdSeconds: number | null;
}

export interface ProtobufSummary {
  readonly count: number;
  readonly sum: number;
  readonly quantiles: readonly (readonly [quantile: number, value: number])[];
  readonly createdSeconds: number | null;
}

/** Message Metric of io.prometheus.client: one series. */
export interface ProtobufMetric {
  readonly labels: LabelPairs;
  readonly timestampSeconds: number | null;
  readonly gauge: ProtobufNumber | null;
  readonly counter: ProtobufNumber | null;
  readonly untyped: ProtobufNumber | null;
  readonly summary: ProtobufSummary | null;
  readonly histogram: ProtobufHistogram | null;
}

/** Numbers of the fields: metrics.proto of prometheus/client_model. Unknown fields are skipped. */
function readMetric(reader: WireReader, limits: ParseLimits): ProtobufMetric {
  const labels: LabelPairs = [];
  const names = new Set<string>();
  const metric: { -readonly [K in keyof ProtobufMetric]: ProtobufMetric[K] } = {
    labels,
    timestampSeconds: null,
    gauge: null,
    counter: null,
    untyped: null,
    summary: null,
    histogram: null,
  };
  while (reader.next()) {
    const { at, field } = reader;
    if (field === 1) {
      const pair = readLabel(reader.message('a label'), limits);
      if (names.has(pair[0])) throw reader.error(at, 'a label name is not unique');
      if (labels.length === limits.maxLabels) throw reader.error(at, `more than ${limits.maxLabels} labels`);
      names.add(pair[0]);
      labels.push(pair);
    } else if (field === 2) metric.gauge = readNumber(reader.message('a gauge'), limits, false);
    else if (field === 3) metric.counter = readNumber(reader.message('a counter'), limits, true);
    else if (field === 4) metric.summary = readSummary(reader.message('a summary'));
    else if (field === 5) metric.untyped = readNumber(reader.message('an untyped value'), limits, false);
    else if (field === 6) {
      reader.expect(VARINT, 'a timestamp');
      metric.timestampSeconds = reader.int64() / 1000;
    } else if (field === 7) metric.histogram = readHistogram(reader.message('a histogram'), limits);
    else reader.skip();
  }
  return metric;
}

function readNumber(reader: WireReader, limits: ParseLimits, ofCounter: boolean): ProtobufNumber {
  let value = 0;
  let exemplar: Exemplar | null = null;
  let createdSeconds: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) value = readDouble(reader);
    else if (ofCounter && reader.field === 2) exemplar = readExemplar(reader.message('an exemplar'), limits);
    else if (ofCounter && reader.field === 3) createdSeconds = readTimestamp(reader.message('a start time'));
    else reader.skip();
  }
  return { value, exemplar, createdSeconds };
}

function readSummary(reader: WireReader): ProtobufSummary {
  let count = 0;
  let sum = 0;
  let createdSeconds: number | null = null;
  const quantiles: [number, number][] = [];
  while (reader.next()) {
    if (reader.field === 1) count = readCount(reader);
    else if (reader.field === 2) sum = readDouble(reader);
    else if (reader.field === 3) quantiles.push(readPairOfDoubles(reader.message('a quantile')));
    else if (reader.field === 4) createdSeconds = readTimestamp(reader.message('a start time'));
    else reader.skip();
  }
  return { count, sum, quantiles, createdSeconds };
}

function readPairOfDoubles(reader: WireReader): [number, number] {
  const pair: [number, number] = [0, 0];
  while (reader.next()) {
    if (reader.field === 1) pair[0] = readDouble(reader);
    else if (reader.field === 2) pair[1] = readDouble(reader);
    else reader.skip();
  }
  return pair;
}

/** Which field of a metric holds its value, by the number of enum MetricType. */
const TYPES = [
  { type: 'counter', value: 'counter' },
  { type: 'gauge', value: 'gauge' },
  { type: 'summary', value: 'summary' },
  { type: 'unknown', value: 'untyped' },
  { type: 'histogram', value: 'histogram' },
  { type: 'gaugehistogram', value: 'histogram' },
] as const satisfies readonly { type: MetricType; value: keyof ProtobufMetric }[];

/** Message MetricFamily. */
export interface ProtobufFamily {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string | null;
  readonly unit: string | null;
  /** Each has the value that the type asks for. */
  readonly metrics: readonly ProtobufMetric[];
}

/** Reads a family. One without a name, of an unknown type, or with a metric that lacks the type's value is rejected. */
export function readFamily(reader: WireReader, limits: ParseLimits): ProtobufFamily {
  const start = reader.at;
  let name = '';
  let help: string | null = null;
  let unit: string | null = null;
  let typeNumber = 0;
  const metrics: ProtobufMetric[] = [];
  while (reader.next()) {
    if (reader.field === 1) name = reader.string('a metric name', limits.maxLabelNameBytes);
    else if (reader.field === 2) help = shortHelp(reader.string('a help text', limits.maxBytes));
    else if (reader.field === 3) {
      reader.expect(VARINT, 'a metric type');
      typeNumber = reader.int64();
    } else if (reader.field === 4) metrics.push(readMetric(reader.message('a metric'), limits));
    else if (reader.field === 5) unit = reader.string('a unit', limits.maxLabelNameBytes);
    else reader.skip();
    if (metrics.length > limits.maxSamples) throw reader.error(reader.at, `more than ${limits.maxSamples} samples`);
  }
  const known = TYPES[typeNumber];
  if (name === '') throw reader.error(start, 'a metric family without a name');
  if (known === undefined) throw reader.error(start, `a metric family of the unknown type ${typeNumber}`);
  if (metrics.some((metric) => metric[known.value] === null))
    throw reader.error(start, `a metric of type ${known.type} without a value of that type`);
  return { name, type: known.type, help: help === '' ? null : help, unit: unit === '' ? null : unit, metrics };
}

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
interface NativeFields {
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
function readNative(fields: NativeFields, error: (reason: string) => Error): NativeHistogram | null {
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
    for (const end = position + length; position < end; position++, index++) {
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
