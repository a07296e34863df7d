import { formatOfContentType } from './content-type.ts';
import { TEXT, openMetricsDialect } from './page/dialect.ts';
import type { Dialect } from './page/dialect.ts';
import type { Exposition } from './exposition.ts';
import { finishPage } from './page/finish-page.ts';
import { checkOpenMetricsRules } from './page/openmetrics-rules.ts';
import { parseLimits } from './parse-options.ts';
import type { ParseOptions } from './parse-options.ts';
import { ParsedExposition } from './page/parsed-exposition.ts';
import { parseProtobuf } from './protobuf/parse-protobuf.ts';
import { readPage } from './page/read-page.ts';

/**
 * Parses a page of the text format 0.0.4 with the tolerance of Prometheus' own parser: missing HELP and TYPE, blank
 * lines, blanks between parts, no final line feed, families in any order. Carriage returns are rejected, as in
 * Prometheus. Throws ExpositionError; an invalid page returns nothing.
 */
export function parseText(bytes: Uint8Array, options?: ParseOptions): Exposition {
  return parseDialect(bytes, TEXT, null, options);
}

/** Parses a page of OpenMetrics 1.0, by default strictly by the specification (`rules`). Throws ExpositionError. */
export function parseOpenMetrics(bytes: Uint8Array, options?: ParseOptions): Exposition {
  return parseDialect(bytes, openMetricsDialect(options?.rules ?? 'specification'), null, options);
}

/**
 * Parses the body of a scrape in the format that its content type names; see `Exposition.formatFallback` for what was
 * assumed. OpenMetrics is read as Prometheus does unless `rules` says otherwise. Throws ExpositionError.
 */
export function parseExposition(
  bytes: Uint8Array,
  contentType: string | null | undefined,
  options?: ParseOptions,
): Exposition {
  const { format, fallback } = formatOfContentType(contentType);
  if (format === 'protobuf') return parseProtobuf(bytes, options);
  const dialect = format === 'text-0.0.4' ? TEXT : openMetricsDialect(options?.rules ?? 'prometheus');
  return parseDialect(bytes, dialect, fallback, options);
}

function parseDialect(
  bytes: Uint8Array,
  dialect: Dialect,
  fallback: string | null,
  options: ParseOptions | undefined,
): Exposition {
  const page = readPage(bytes, dialect, parseLimits(options));
  if (dialect.strict) checkOpenMetricsRules(page);
  const { layout, values } = finishPage(page);
  return new ParsedExposition(layout, values, fallback);
}
