import type { ExpositionFormat } from './exposition.ts';
import { quoteForMessage } from './exposition-error.ts';

export interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  /** Why text was assumed; null when the content type said so. */
  readonly fallback: string | null;
}

/**
 * The format that a Content-Type names. `text/plain` is the text format whatever its version (vLLM says 1.0.0, Triton
 * none). A missing or unknown type is read as text, like Prometheus with `fallback_scrape_protocol: PrometheusText0.0.4`.
 */
export function formatOfContentType(contentType: string | null | undefined): NegotiatedFormat {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/openmetrics-text') return { format: 'openmetrics-1.0.0', fallback: null };
  if (type === 'text/plain') return { format: 'text-0.0.4', fallback: null };
  const fallback = type === '' ? 'no content type' : `unknown content type ${quoteForMessage(type)}`;
  return { format: 'text-0.0.4', fallback };
}
