import type { MetricType } from '../exposition.ts';
import { shortHelp } from '../page/metadata-line.ts';
import type { ParseLimits } from '../parse-options.ts';
import { readMetric } from './protobuf-metric.ts';
import type { ProtobufMetric } from './protobuf-metric.ts';
import { VARINT } from './wire-reader.ts';
import type { WireReader } from './wire-reader.ts';

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
