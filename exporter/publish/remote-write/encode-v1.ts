import { histogramMessage, sampleMessage } from './encode-samples.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import type { PushedFamily, SeriesLayout, SeriesPoint } from './pushed-series.ts';

/** The series of a layout in one request: receivers that reject native histograms must not lose the numbers. */
export type SeriesKind = 'numbers' | 'native';

/** MetricType of both protocols' metadata. */
export const METRIC_TYPES: Readonly<Record<PushedFamily['type'], number>> = {
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
    for (const [name, value] of labels) {
      const label = new ProtobufWriter();
      label.string(1, name);
      label.string(2, value);
      message.bytes(1, label.written);
    }
    for (const { time_ms, values, native } of points) {
      if (kind === 'numbers') message.bytes(2, sampleMessage(time_ms, values?.[i] ?? null, null));
      else message.bytes(4, histogramMessage(time_ms, native?.[i] ?? null, null));
    }
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
