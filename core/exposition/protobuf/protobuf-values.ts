import type { Exemplar } from '../exposition.ts';
import { makeLabels } from '../page/label-sets.ts';
import type { ParseLimits } from '../parse-options.ts';
import { FIXED64, VARINT } from './wire-reader.ts';
import type { WireReader } from './wire-reader.ts';

export type LabelPairs = [name: string, value: string][];

/** Message LabelPair. */
export function readLabel(reader: WireReader, limits: ParseLimits): [string, string] {
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
export function readExemplar(reader: WireReader, limits: ParseLimits): Exemplar {
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
export function readTimestamp(reader: WireReader): number {
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

export function readDouble(reader: WireReader): number {
  reader.expect(FIXED64, 'a number');
  return reader.double();
}

export function readCount(reader: WireReader): number {
  reader.expect(VARINT, 'a count');
  return reader.uint64();
}
