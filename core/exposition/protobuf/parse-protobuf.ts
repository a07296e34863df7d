import {
  ExpositionError,
  parseLimits,
  type Exemplar,
  type Labels,
  type MetricType,
  type NativeHistogramSample,
  type ParseLimits,
  type Exposition,
  type ParseOptions,
} from '../exposition.ts';
import { Dictionaries } from '../page/byte-interner.ts';
import { finishPage } from '../page/read-page.ts';
import type { Dialect } from '../page/page-cursor.ts';
import { ParsedExposition, PageRows } from '../page/parsed-exposition.ts';
import { formatNumber } from '../write-page.ts';
import {
  readFamily,
  type ProtobufFamily,
  type ProtobufHistogram,
  type ProtobufMetric,
  type ProtobufNumber,
  type ProtobufSummary,
  type LabelPairs,
} from './protobuf-family.ts';
import { WireReader } from './wire-reader.ts';

const FIRST_ROWS = 256;

/** Where a series' samples go: its labels and time. */
interface SeriesPlace {
  readonly labels: LabelPairs;
  readonly setId: number;
  readonly timestampSeconds: number | null;
}

/** Turns families into the rows that the text format would have, in the same order, and keeps the native histograms. */
class FamilyRows {
  readonly rows = new PageRows(FIRST_ROWS);
  readonly nativeHistograms: NativeHistogramSample[] = [];
  private readonly dictionaries: Dictionaries;
  private readonly limits: ParseLimits;
  private readonly nativeSeries = new Set<string>();
  /** Rows and buckets of native histograms. */
  private size = 0;

  constructor(dictionaries: Dictionaries, limits: ParseLimits) {
    this.dictionaries = dictionaries;
    this.limits = limits;
  }

  /** `offset` is that of the family's message. Throws ExpositionError when there are too many samples. */
  add({ name, type, help, unit, metrics }: ProtobufFamily, offset: number): void {
    const line = (keyword: 'HELP' | 'TYPE' | 'UNIT', text: string): void =>
      void this.rows.metadata.push({ keyword, name, text, offset, row: this.rows.count });
    if (help !== null) line('HELP', help);
    line('TYPE', type);
    if (unit !== null) line('UNIT', unit);
    for (const metric of metrics) this.addMetric(name, type, metric);
  }

  private addMetric(name: string, type: MetricType, metric: ProtobufMetric): void {
    const { labels, timestampSeconds, counter, gauge, untyped, summary, histogram } = metric;
    const place: SeriesPlace = { labels, setId: this.dictionaries.labelSets.intern(labels), timestampSeconds };
    if (summary !== null && type === 'summary') this.addSummary(name, place, summary);
    else if (histogram !== null && type === 'histogram') this.addHistogram(name, place, histogram, ['_sum', '_count']);
    else if (histogram !== null && type === 'gaugehistogram')
      this.addHistogram(name, place, histogram, ['_gsum', '_gcount']);
    else {
      const number = type === 'counter' ? counter : type === 'gauge' ? gauge : untyped;
      if (number !== null) this.addNumber(name, place, number);
    }
  }

  private addNumber(name: string, place: SeriesPlace, { value, exemplar, createdSeconds }: ProtobufNumber): void {
    this.push(name, place, value, exemplar);
    this.addCreated(name, place, createdSeconds);
  }

  private addSummary(
    name: string,
    place: SeriesPlace,
    { count, sum, quantiles, createdSeconds }: ProtobufSummary,
  ): void {
    for (const [quantile, value] of quantiles) {
      const labels: LabelPairs = [...place.labels, ['quantile', formatNumber(quantile)]];
      this.push(name, { ...place, setId: this.dictionaries.labelSets.intern(labels) }, value);
    }
    this.push(`${name}_sum`, place, sum);
    this.push(`${name}_count`, place, count);
    this.addCreated(name, place, createdSeconds);
  }

  private addHistogram(
    name: string,
    place: SeriesPlace,
    histogram: ProtobufHistogram,
    [sumSuffix, countSuffix]: readonly [string, string],
  ): void {
    const { buckets, count, sum, createdSeconds, native } = histogram;
    if (native === null || buckets.length > 0) {
      for (const { bound, count: below, exemplar } of buckets)
        this.push(`${name}_bucket`, place, below, exemplar, formatNumber(bound));
      if (buckets.at(-1)?.bound !== Infinity) this.push(`${name}_bucket`, place, count, null, '+Inf');
      this.push(name + sumSuffix, place, sum);
      this.push(name + countSuffix, place, count);
    }
    this.addCreated(name, place, createdSeconds);
    if (native !== null) this.addNative(name, place, histogram, native);
  }

  private addNative(
    family: string,
    { setId, timestampSeconds }: SeriesPlace,
    { createdSeconds, exemplars }: ProtobufHistogram,
    histogram: NativeHistogramSample['histogram'],
  ): void {
    this.grow(1 + histogram.positive.length + histogram.negative.length);
    const key = `${setId} ${timestampSeconds} ${family}`;
    if (this.nativeSeries.has(key)) return;
    this.nativeSeries.add(key);
    const labels = this.dictionaries.labelSets.sets[setId] as Labels;
    this.nativeHistograms.push({ family, labels, histogram, createdSeconds, timestampSeconds, exemplars });
  }

  private addCreated(family: string, place: SeriesPlace, createdSeconds: number | null): void {
    if (createdSeconds !== null) this.push(`${family}_created`, place, createdSeconds);
  }

  private push(
    name: string,
    { setId, timestampSeconds }: SeriesPlace,
    value: number,
    exemplar: Exemplar | null = null,
    bound: string | null = null,
  ): void {
    this.grow(1);
    const { rows, dictionaries } = this;
    const boundId = bound === null ? -1 : dictionaries.internBound(bound);
    const row = rows.push(dictionaries.internName(name), setId, boundId, value, 0);
    if (timestampSeconds !== null) rows.setTimestamp(row, timestampSeconds);
    if (exemplar !== null) rows.exemplars.set(row, exemplar);
  }

  private grow(by: number): void {
    this.size += by;
    if (this.size > this.limits.maxSamples)
      throw new ExpositionError(0, 0, `more than ${this.limits.maxSamples} samples`);
  }
}

const PROTOBUF: Dialect = { format: 'protobuf', blanks: false };

/**
 * Parses a page of Prometheus' protobuf format: delimited messages io.prometheus.client.MetricFamily.
 *
 * Counters, gauges, summaries and classic histograms become the same families and samples as in the text format, with
 * exemplars; a start time becomes the sample `<family>_created`. Native histograms are in `nativeHistograms`; one
 * without classic buckets has no other samples. Gauge histograms have OpenMetrics' suffixes. Of native histograms with
 * the same labels and time, the first is used. Lines and columns have no meaning here: errors name the byte. Throws
 * ExpositionError; an invalid page returns nothing.
 */
export function parseProtobuf(bytes: Uint8Array, options?: ParseOptions): Exposition {
  const limits = parseLimits(options);
  if (bytes.length > limits.maxBytes)
    throw new ExpositionError(0, 0, `the page has ${bytes.length} bytes, more than ${limits.maxBytes}`);
  const dictionaries = new Dictionaries();
  const page = new FamilyRows(dictionaries, limits);
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const message = reader.delimited('a metric family');
    const start = message.at;
    const family = readFamily(message, limits);
    page.add(family, start);
  }
  const { layout, values } = finishPage({
    rows: page.rows,
    dictionaries,
    dialect: PROTOBUF,
    cursor: { lineNumber: () => 0 },
    missingFinalNewline: false,
  });
  return new ParsedExposition(layout, values, null, page.nativeHistograms);
}
