/**
 * The package's part for Node and browsers, `llmbench-observability/core`: pure functions, without input and output.
 * What is exported here is stable; docs/guides/library.md describes it.
 */
export { parseExposition } from './exposition/parse.ts';
export { createScrapeParser, type ScrapeParser } from './exposition/parse.ts';
export { ExpositionError } from './exposition/exposition.ts';
export { classicHistograms, type ClassicHistogramSeries } from './exposition/exposition.ts';
export type { ParseLimits, ParseOptions } from './exposition/exposition.ts';
export type {
  Exemplar,
  Exposition,
  ExpositionFormat,
  Labels,
  MetricFamily,
  MetricType,
  NativeHistogramSample,
  Sample,
  SampleColumns,
} from './exposition/exposition.ts';

export { classicHistogram, type ClassicHistogram } from './histogram/classic-histogram.ts';
export { histogramDelta, type HistogramDelta } from './histogram/classic-histogram.ts';
export { histogramQuantile } from './histogram/quantile.ts';
export { quantileBounds, type QuantileBounds } from './histogram/bounds.ts';
export { fractionBelow, type FractionBelow } from './histogram/bounds.ts';
export { addHistograms } from './histogram/classic-histogram.ts';
export { rebucket } from './histogram/classic-histogram.ts';

export { percentile } from './stats/percentiles.ts';
export { summarize, type Summary } from './stats/percentiles.ts';
export { blockBootstrap, type BlockBootstrap, type BlockBootstrapOptions } from './stats/block-bootstrap.ts';
export type { Interval } from './stats/shift.ts';

export type { DistributionResult, MeasureResult, Percentile, ResultFile, ScalarResult } from './run/result.ts';
export type { RunFile } from './run/run.ts';
export type { RequestRecord } from './run/record.ts';
