import { histogramMessage, sampleMessage } from './encode-samples.ts';
import { METRIC_TYPES, type SeriesKind } from './encode-v1.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { PushedFamily, SeriesLayout, SeriesPoint } from './pushed-series.ts';

const encoder = new TextEncoder();

/**
 * Message io.prometheus.write.v2.Request of remote write 2.0: every string once in a table, metadata with each series.
 * The start time of counters is written both where 2.0-rc.3 has it (with the series) and where rc.4 has it (with each
 * sample): receivers ignore the field that they do not know.
 */
export function writeRequestV2(layout: SeriesLayout, points: readonly SeriesPoint[], kind: SeriesKind): Uint8Array {
  const symbols = new SymbolTable();
  const body = new ProtobufWriter();
  const series = kind === 'numbers' ? layout.series : layout.nativeSeries;
  series.forEach(({ labels, family: at }, i) => {
    const family = layout.families[at];
    const isCumulative = family?.type === 'counter' || family?.type === 'histogram';
    const start_ms = isCumulative ? layout.created_ms : null;
    const message = new ProtobufWriter();
    message.packedUints(
      1,
      labels.flatMap(([name, value]) => [symbols.of(name), symbols.of(value)]),
    );
    for (const { time_ms, values, native } of points) {
      if (kind === 'numbers') message.bytes(2, sampleMessage(time_ms, values?.[i] ?? null, start_ms));
      else message.bytes(3, histogramMessage(time_ms, native?.[i] ?? null, start_ms));
    }
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
