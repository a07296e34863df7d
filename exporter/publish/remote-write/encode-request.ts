import {
  CUSTOM_BUCKETS_SCHEMA,
  type NativeBucket,
  type NativeHistogram,
} from '../../../core/histogram/native-histogram.ts';
import type { PointExemplar, PushedFamily, SeriesLayout, SeriesPoint } from './pushed-series.ts';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

/**
 * Writes the fields of one protobuf message (wire format: protobuf.dev/programming-guides/encoding). Integers are exact
 * up to 2^53. A number or string with its default value (0, empty) is omitted, as usual.
 */
class ProtobufWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** uint32, uint64, an enum, or an int64 that is not negative. */
  uint(field: number, value: number): void {
    if (value !== 0) this.uintOfOne(field, value);
  }

  /** The same for a member of a `oneof`, where 0 identifies the member. */
  uintOfOne(field: number, value: number): void {
    this.#tag(field, VARINT);
    this.#varint(value);
  }

  /** sint32 or sint64. */
  sint(field: number, value: number): void {
    if (value === 0) return;
    this.#tag(field, VARINT);
    this.#varint(zigzag(value));
  }

  double(field: number, value: number): void {
    if (Object.is(value, 0)) return;
    this.#tag(field, FIXED64);
    this.#double(value);
  }

  /** A double by its bits: a NaN can lose its payload when converted to a number. */
  doubleBits(field: number, high: number, low: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#view.setUint32(this.#length, low, true);
    this.#view.setUint32(this.#length + 4, high, true);
    this.#length += 8;
  }

  string(field: number, text: string): void {
    if (text !== '') this.bytes(field, encoder.encode(text.toWellFormed()));
  }

  /** Bytes, or an encoded message. */
  bytes(field: number, content: Uint8Array): void {
    this.#tag(field, LENGTH_DELIMITED);
    this.#varint(content.length);
    this.raw(content);
  }

  packedUints(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#varint(value);
    });
  }

  packedSints(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#varint(zigzag(value));
    });
  }

  packedDoubles(field: number, values: readonly number[]): void {
    this.#packed(field, (inner) => {
      for (const value of values) inner.#double(value);
    });
  }

  /** Encoded fields. */
  raw(content: Uint8Array): void {
    this.#reserve(content.length);
    this.#bytes.set(content, this.#length);
    this.#length += content.length;
  }

  /** The bytes since the start or the last `clear`; valid until the next write. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  #packed(field: number, write: (inner: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter();
    write(inner);
    this.bytes(field, inner.written);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.written);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

/** The stale marker, a NaN with these bits: 0x7ff0000000000002. */
const STALE_HIGH = 0x7ff00000;
const STALE_LOW = 2;

/** Message Sample, the same in both protocols. `value` null: the stale marker. `start_ms`: protocol 2.0 only. */
function sampleMessage(time_ms: number, value: number | null, start_ms: number | null): Uint8Array {
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
function histogramMessage(time_ms: number, histogram: NativeHistogram | null, start_ms: number | null): Uint8Array {
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

/** Message Exemplar, the same in both protocols but for its labels. */
function exemplarMessage(
  { labels, value, time_ms }: PointExemplar,
  writeLabels: (writer: ProtobufWriter, labels: readonly (readonly [string, string])[]) => void,
): Uint8Array {
  const writer = new ProtobufWriter();
  writeLabels(writer, Object.entries(labels));
  writer.double(2, value);
  writer.uint(3, time_ms);
  return writer.written;
}

/** The exemplars of one series in all points, in time order. */
const exemplarsOf = (points: readonly SeriesPoint[], series: number): readonly PointExemplar[] =>
  points.flatMap(({ exemplars = [] }) => exemplars.filter((exemplar) => exemplar.series === series));

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

/** The series of a layout in one request: receivers that reject native histograms must not lose the numbers. */
export type SeriesKind = 'numbers' | 'native';

/** MetricType of both protocols' metadata. */
const METRIC_TYPES: Readonly<Record<PushedFamily['type'], number>> = {
  untyped: 0,
  counter: 1,
  gauge: 2,
  histogram: 3,
};

/** Message prometheus.WriteRequest of remote write 1.0: the points in time order, and metadata if requested. */
export function writeRequestV1(
  layout: SeriesLayout,
  points: readonly SeriesPoint[],
  kind: SeriesKind,
  withMetadata: boolean,
): Uint8Array {
  const request = new ProtobufWriter();
  const series = kind === 'numbers' ? layout.series : layout.nativeSeries;
  series.forEach(({ labels }, i) => {
    const message = new ProtobufWriter();
    writeLabelsV1(message, labels);
    for (const { time_ms, values, native } of points) {
      if (kind === 'numbers') message.bytes(2, sampleMessage(time_ms, values?.[i] ?? null, null));
      else message.bytes(4, histogramMessage(time_ms, native?.[i] ?? null, null));
    }
    if (kind === 'numbers')
      for (const exemplar of exemplarsOf(points, i)) message.bytes(3, exemplarMessage(exemplar, writeLabelsV1));
    request.bytes(1, message.written);
  });
  if (withMetadata) {
    for (const { name, help, type } of layout.families) {
      const metadata = new ProtobufWriter();
      metadata.uint(1, METRIC_TYPES[type]);
      metadata.string(2, name);
      metadata.string(4, help);
      request.bytes(3, metadata.written);
    }
  }
  return request.written;
}

function writeLabelsV1(writer: ProtobufWriter, labels: readonly (readonly [string, string])[]): void {
  for (const [name, value] of labels) {
    const label = new ProtobufWriter();
    label.string(1, name);
    label.string(2, value);
    writer.bytes(1, label.written);
  }
}

const encoder = new TextEncoder();

/**
 * Message io.prometheus.write.v2.Request of remote write 2.0: every string once in a table, metadata with each series.
 * The start time of counters is written both where 2.0-rc.3 has it (with the series) and where rc.4 has it (with each
 * sample): receivers ignore the field that they do not know.
 */
export function writeRequestV2(layout: SeriesLayout, points: readonly SeriesPoint[], kind: SeriesKind): Uint8Array {
  const symbols = new SymbolTable();
  const writeLabels = (writer: ProtobufWriter, labels: readonly (readonly [string, string])[]): void =>
    writer.packedUints(
      1,
      labels.flatMap(([name, value]) => [symbols.of(name), symbols.of(value)]),
    );
  const body = new ProtobufWriter();
  const series = kind === 'numbers' ? layout.series : layout.nativeSeries;
  series.forEach(({ labels, family: at }, i) => {
    const family = layout.families[at];
    const isCumulative = family?.type === 'counter' || family?.type === 'histogram';
    const start_ms = isCumulative ? layout.created_ms : null;
    const message = new ProtobufWriter();
    writeLabels(message, labels);
    for (const { time_ms, values, native } of points) {
      if (kind === 'numbers') message.bytes(2, sampleMessage(time_ms, values?.[i] ?? null, start_ms));
      else message.bytes(3, histogramMessage(time_ms, native?.[i] ?? null, start_ms));
    }
    if (kind === 'numbers')
      for (const exemplar of exemplarsOf(points, i)) message.bytes(4, exemplarMessage(exemplar, writeLabels));
    if (family !== undefined) message.bytes(5, metadata(family, symbols));
    if (start_ms !== null) message.uint(6, start_ms);
    body.bytes(5, message.written);
  });
  const request = new ProtobufWriter();
  for (const text of symbols.texts) request.bytes(4, encoder.encode(text.toWellFormed()));
  request.raw(body.written);
  return request.written;
}

function metadata({ type, help }: PushedFamily, symbols: SymbolTable): Uint8Array {
  const writer = new ProtobufWriter();
  writer.uint(1, METRIC_TYPES[type]);
  writer.uint(3, symbols.of(help));
  return writer.written;
}

/** The first symbol is the empty string, as the protocol requires. */
class SymbolTable {
  readonly #places = new Map<string, number>([['', 0]]);

  of(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(text, place);
    return place;
  }

  get texts(): Iterable<string> {
    return this.#places.keys();
  }
}
