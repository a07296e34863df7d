import type { Exemplar } from '../exposition.ts';
import type { ParseLimits } from '../parse-options.ts';
import { VARINT } from './wire-reader.ts';
import type { WireReader } from './wire-reader.ts';
import { readHistogram } from './protobuf-histogram.ts';
import type { ProtobufHistogram } from './protobuf-histogram.ts';
import { readCount, readDouble, readExemplar, readLabel, readTimestamp } from './protobuf-values.ts';
import type { LabelPairs } from './protobuf-values.ts';

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
export function readMetric(reader: WireReader, limits: ParseLimits): ProtobufMetric {
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
