import type { ExpositionFormat } from './exposition.ts';
import { ExpositionError, quoteForMessage } from './exposition-error.ts';

export interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  /** Why text was assumed; null when the content type specifies it. */
  readonly fallback: string | null;
}

const PROTOBUF = /^application\/vnd\.google\.protobuf *(;|$)/i;
const MESSAGE = 'io.prometheus.client.metricfamily';

/**
 * The format that a Content-Type names. `text/plain` is the text format whatever its version (vLLM reports 1.0.0,
 * Triton none). Protobuf of another message or encoding is rejected. A missing or unknown type is read as text, like
 * Prometheus with `fallback_scrape_protocol: PrometheusText0.0.4`.
 */
export function formatOfContentType(contentType: string | null | undefined): NegotiatedFormat {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/openmetrics-text') return { format: 'openmetrics-1.0.0', fallback: null };
  if (PROTOBUF.test(contentType ?? '')) return protobuf(contentType ?? '');
  if (type === 'text/plain') return { format: 'text-0.0.4', fallback: null };
  const fallback = type === '' ? 'no content type' : `unknown content type ${quoteForMessage(type)}`;
  return { format: 'text-0.0.4', fallback };
}

/** Only length-delimited messages of the type that Prometheus defines are a page of metrics. */
function protobuf(contentType: string): NegotiatedFormat {
  const parameters = new Map(
    contentType.split(';').map((part): [string, string] => {
      const [name = '', value = ''] = part.split('=', 2);
      return [
        name.trim().toLowerCase(),
        value
          .trim()
          .toLowerCase()
          .replace(/^"(.*)"$/, '$1'),
      ];
    }),
  );
  const message = parameters.get('proto') ?? MESSAGE;
  const encoding = parameters.get('encoding') ?? 'delimited';
  if (message !== MESSAGE) throw new ExpositionError(0, 0, `protobuf messages of type ${quoteForMessage(message)}`);
  if (encoding !== 'delimited')
    throw new ExpositionError(0, 0, `protobuf in the encoding ${quoteForMessage(encoding)}`);
  return { format: 'protobuf', fallback: null };
}
