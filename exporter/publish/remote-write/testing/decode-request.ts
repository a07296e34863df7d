import { snappyUncompress } from 'hyparquet';
import { FIXED64, VARINT, WireReader } from '../../../../core/exposition/protobuf/wire-reader.ts';

export interface DecodedSample {
  readonly time_ms: number;
  /** `stale`: the marker. */
  readonly value: number | 'stale';
}

export interface DecodedHistogram {
  readonly time_ms: number;
  readonly count: number;
  readonly sum: number | 'stale';
  readonly schema: number;
  readonly customValues: readonly number[];
}

export interface DecodedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly DecodedSample[];
  readonly histograms: readonly DecodedHistogram[];
  /** Of protocol 2.0. */
  readonly type: number | null;
  readonly created_ms: number | null;
}

export interface DecodedRequest {
  readonly series: readonly DecodedSeries[];
  /** Family to help, of protocol 1.0. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** The body of a request, decompressed and decoded. */
export function decodeRequest(body: Uint8Array, protocol: '1' | '2'): DecodedRequest {
  const bytes = uncompressed(body);
  return protocol === '1' ? decodeV1(new WireReader(bytes)) : decodeV2(new WireReader(bytes));
}

function uncompressed(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(new WireReader(body).uint64());
  snappyUncompress(body, bytes);
  return bytes;
}

const text = (reader: WireReader): string => reader.string('text', 1e6);

function decodeV1(reader: WireReader): DecodedRequest {
  const series: DecodedSeries[] = [];
  const metadata = new Map<string, string>();
  while (reader.next()) {
    const message = reader.message('a message');
    if (reader.field === 1) series.push(readSeries(message, null));
    else if (reader.field === 3) {
      let name = '';
      let help = '';
      while (message.next()) {
        if (message.field === 2) name = text(message);
        else if (message.field === 4) help = text(message);
        else message.skip();
      }
      metadata.set(name, help);
    }
  }
  return { series, metadata };
}

function decodeV2(reader: WireReader): DecodedRequest {
  const symbols: string[] = [];
  const messages: WireReader[] = [];
  while (reader.next()) {
    if (reader.field === 4) symbols.push(text(reader));
    else messages.push(reader.message('a series'));
  }
  return { series: messages.map((message) => readSeries(message, symbols)), metadata: new Map() };
}

function readSeries(reader: WireReader, symbols: readonly string[] | null): DecodedSeries {
  const labels: [string, string][] = [];
  const refs: number[] = [];
  const samples: DecodedSample[] = [];
  const histograms: DecodedHistogram[] = [];
  let type: number | null = null;
  let created_ms: number | null = null;
  while (reader.next()) {
    const { field } = reader;
    if (field === 1 && symbols === null) labels.push(readLabel(reader.message('a label')));
    else if (field === 1) reader.repeated(VARINT, 'a reference', (each) => void refs.push(each.uint64()));
    else if (field === 2) samples.push(readSample(reader.message('a sample')));
    else if (field === (symbols === null ? 4 : 3)) histograms.push(readHistogram(reader.message('a histogram')));
    else if (field === 5) {
      const metadata = reader.message('metadata');
      type = 0;
      while (metadata.next())
        if (metadata.field === 1) type = metadata.uint64();
        else metadata.skip();
    } else if (field === 6) created_ms = reader.uint64();
    else reader.skip();
  }
  for (let i = 0; i < refs.length; i += 2)
    labels.push([symbols?.[refs[i] ?? 0] ?? '', symbols?.[refs[i + 1] ?? 0] ?? '']);
  return { labels: Object.fromEntries(labels), samples, histograms, type, created_ms };
}

function readLabel(reader: WireReader): [string, string] {
  let name = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) name = text(reader);
    else value = text(reader);
  }
  return [name, value];
}

function readSample(reader: WireReader): DecodedSample {
  let value: DecodedSample['value'] = 0;
  let time_ms = 0;
  while (reader.next()) {
    if (reader.field === 1) value = readValue(reader);
    else if (reader.field === 2) time_ms = reader.uint64();
    else reader.skip();
  }
  return { time_ms, value };
}

function readHistogram(reader: WireReader): DecodedHistogram {
  let time_ms = 0;
  let count = 0;
  let sum: DecodedHistogram['sum'] = 0;
  let schema = 0;
  const customValues: number[] = [];
  while (reader.next()) {
    if (reader.field === 1) count = reader.uint64();
    else if (reader.field === 3) sum = readValue(reader);
    else if (reader.field === 4) schema = reader.sint64();
    else if (reader.field === 15) time_ms = reader.uint64();
    else if (reader.field === 16) reader.repeated(FIXED64, 'a bound', (each) => void customValues.push(each.double()));
    else reader.skip();
  }
  return { time_ms, count, sum, schema, customValues };
}

const STALE = Uint8Array.of(2, 0, 0, 0, 0, 0, 0xf0, 0x7f);

function readValue(reader: WireReader): number | 'stale' {
  const isStale = STALE.every((byte, i) => reader.bytes[reader.at + i] === byte);
  const value = reader.double();
  return isStale ? 'stale' : value;
}
