import { ERROR_REASONS } from '../../../core/run/record.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import type { Fields } from '../reading/fields.ts';

/**
 * The reasons for AIPerf's error types (names of Python exceptions, and its own) and messages, in order of precedence.
 */
const RULES: readonly (readonly [RegExp, ErrorReason])[] = [
  [/RequestCancell?ation|CancelledError/i, 'cancelled'],
  [/ConnectionRefused|Connect call failed|Connection refused|ECONNREFUSED/i, 'connect_refused'],
  [/ConnectionTimeout|ConnectTimeout|Connection timeout/i, 'connect_timeout'],
  [/DNS|getaddrinfo|Name or service not known|nodename nor servname/i, 'dns'],
  [/SSL|TLS|Certificate/i, 'tls'],
  [
    /ConnectionReset|ServerDisconnected|ClientOSError|BrokenPipe|ClientPayload|IncompleteRead|ClientConnectionError/i,
    'reset',
  ],
  [/SocketTimeout|ReadTimeout|IdleTimeout/i, 'idle_timeout'],
  [/Timeout/i, 'request_timeout'],
  [/NoContent|EmptyResponse|no content|InvalidInferenceResult/i, 'no_content'],
  [/JSONDecode|SSEResponseError.*pars|malformed/i, 'malformed_event'],
  [/SSE|error event/i, 'error_event'],
  [/ContentType|not a stream/i, 'not_a_stream'],
  [/ClientConnector/i, 'connect_refused'],
];

const CANCELLED_CODE = 499;

/** The reason for AIPerf's `{code, type, message}`. */
export function aiperfReason(error: Fields): ErrorReason {
  const code = error.number('code');
  const type = error.text('type') ?? '';
  const own = ERROR_REASONS.find((reason) => reason === type);
  // What llmbench itself exported in AIPerf's form.
  if (own !== undefined) return own;
  if (code === CANCELLED_CODE) return 'cancelled';
  if (code === 429) return 'http_429';
  if (code !== null && code >= 300 && code <= 399) return 'redirect';
  if (code !== null && code >= 400 && code <= 499) return 'http_4xx';
  if (code !== null && code >= 500 && code <= 599) return 'http_5xx';
  const text = `${type} ${error.text('message') ?? ''}`;
  return RULES.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

/** The HTTP status among the codes of an error; null when the code is none, or the client's own. */
export function statusOf(error: Fields): number | null {
  const code = error.number('code');
  return code !== null && Number.isInteger(code) && code >= 100 && code <= 599 && code !== CANCELLED_CODE ? code : null;
}
