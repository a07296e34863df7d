import { ExpositionError } from '../exposition-error.ts';
import type { Exposition } from '../exposition.ts';
import type { Dialect } from '../page/dialect.ts';
import { Dictionaries } from '../page/dictionaries.ts';
import { finishPage } from '../page/finish-page.ts';
import { ParsedExposition } from '../page/parsed-exposition.ts';
import { parseLimits } from '../parse-options.ts';
import type { ParseOptions } from '../parse-options.ts';
import { FamilyRows } from './family-rows.ts';
import { readFamily } from './protobuf-family.ts';
import { WireReader } from './wire-reader.ts';

const PROTOBUF: Dialect = { format: 'protobuf', blanks: false, strict: false };

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
