/** The exposition formats of Prometheus: text 0.0.4, OpenMetrics 1.0 and, for reading, protobuf. */
export type {
  Duplicates,
  Exemplar,
  Exposition,
  ExpositionFormat,
  Labels,
  MetricFamily,
  MetricType,
  NativeHistogramSample,
  Sample,
  SampleColumns,
} from './exposition.ts';
export { ExpositionError } from './exposition-error.ts';
export { DEFAULT_PARSE_LIMITS } from './parse-options.ts';
export type { ParseLimits, ParseOptions } from './parse-options.ts';
export { parseExposition, parseOpenMetrics, parseText } from './parse.ts';
export { parseProtobuf } from './protobuf/parse-protobuf.ts';
export { createScrapeParser } from './scrape-parser.ts';
export type { ScrapeParser } from './scrape-parser.ts';
export { labelsOfRow, sampleOfRow } from './page/parsed-exposition.ts';
export { classicHistograms } from './classic-histograms.ts';
export type { HistogramSeries } from './classic-histograms.ts';
export { formatCanonicalNumber, formatNumber } from './write/format-number.ts';
export { writeText } from './write/write-text.ts';
export { writeOpenMetrics } from './write/write-openmetrics.ts';
export { ExpositionWriteError } from './write/writer-input.ts';
export type { ExemplarInput, FamilyInput, SampleInput, WriteOptions } from './write/writer-input.ts';
