/** The exposition formats of Prometheus: text 0.0.4, OpenMetrics 1.0 and, for reading, protobuf. */
export type {
  Exemplar,
  Exposition,
  ExpositionFormat,
  Labels,
  MetricFamily,
  MetricType,
  NativeHistogramSample,
  SampleColumns,
} from './exposition.ts';
export { ExpositionError } from './exposition.ts';
export type { ParseLimits } from './exposition.ts';
export { parseExposition, parseText } from './parse.ts';
export { parseProtobuf } from './protobuf/parse-protobuf.ts';
export { createScrapeParser } from './parse.ts';
export { labelsOfRow } from './page/parsed-exposition.ts';
export { classicHistograms } from './exposition.ts';
export type { ClassicHistogramSeries } from './exposition.ts';
export { formatCanonicalNumber, formatNumber } from './write-page.ts';
export {
  CONTENT_TYPES,
  endOfPage,
  isLabelName,
  isMetricName,
  metadataLines,
  pageType,
  exemplarText,
  sampleLines,
  seriesStart,
  valueText,
  writePage,
} from './write-page.ts';
export type { FamilyInput, FamilyMetadata, PageFormat, SampleInput } from './write-page.ts';
