import type { ErrorReason, Outcome } from '../run/record.ts';

/** What each reason means, in the order of `ERROR_REASONS`: the text of the metric reference and of reports. */
export const ERROR_REASON_RULES: Readonly<Record<ErrorReason, string>> = {
  connect_refused: 'nothing listened at the address',
  connect_timeout: 'the connection was not established within the connect timeout',
  dns: 'the host name did not resolve',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed or reset before the response was complete',
  protocol: 'the response is not valid HTTP/1.1',
  redirect: 'HTTP status 300 to 399: redirects are not followed',
  http_429: 'HTTP status 429',
  http_4xx: 'any other HTTP status from 400 to 499',
  http_5xx: 'HTTP status 500 to 599',
  compression: 'the body is compressed although identity was requested',
  not_a_stream: 'HTTP 2xx whose body is not the requested stream',
  malformed_event: 'an event of the stream is not valid JSON of the protocol',
  error_event: 'an `error` object inside the stream',
  no_finish: 'the stream ended without a finish reason, and without usage followed by [DONE]',
  no_content: 'the stream finished without any content',
  first_token_timeout: 'no content of the stream within the first-token timeout',
  idle_timeout: 'no further byte of a response that had begun for longer than the idle timeout',
  request_timeout: 'the request took longer than the request timeout',
  cancelled: 'the client cancelled the request',
  other: 'none of the other reasons',
};

const TIMEOUTS: ReadonlySet<ErrorReason> = new Set([
  'connect_timeout',
  'first_token_timeout',
  'idle_timeout',
  'request_timeout',
]);

/** The outcome that goes with a reason; no reason is `ok`. */
export function outcomeOf(reason: ErrorReason | null): Outcome {
  if (reason === null) return 'ok';
  if (reason === 'cancelled') return 'cancelled';
  return TIMEOUTS.has(reason) ? 'timeout' : 'error';
}
