import { type ErrorReason, type RequestRecord, outcomeOf } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { STATUS_CODES } from '../../http-client/node-http.ts';

/** Why a request failed, from what a Python tool kept of it. */
export interface PythonError {
  readonly reason: ErrorReason;
  readonly http_status: number | null;
}

/**
 * Patterns of the messages of aiohttp and httpx (exceptions and the last line of a traceback), in the order of
 * precedence of the reasons. The text itself is never kept.
 */
const PATTERNS: readonly (readonly [ErrorReason, RegExp])[] = [
  ['connect_refused', /Connect call failed|Connection refused|All connection attempts failed|ConnectionRefusedError/],
  ['connect_timeout', /ConnectTimeout|ConnectionTimeoutError|Connection timeout to host/],
  [
    'dns',
    /ClientConnectorDNSError|Name or service not known|getaddrinfo|nodename nor servname|Temporary failure in name/,
  ],
  ['tls', /ClientConnectorCertificateError|ClientConnectorSSLError|CERTIFICATE_VERIFY_FAILED|\bssl\.SSL|\[SSL/],
  [
    'reset',
    /ServerDisconnectedError|Server disconnected|ConnectionResetError|Connection reset|BrokenPipeError|ClientPayloadError|RemoteProtocolError|\bReadError|\bWriteError|ClientOSError|IncompleteRead/,
  ],
  ['malformed_event', /JSONDecodeError|Expecting value: line|unexpected end of data/],
  ['no_content', /Never received a valid chunk/],
  ['idle_timeout', /SocketTimeoutError|Timeout on reading data|ReadTimeout/],
  ['request_timeout', /TimeoutError|PoolTimeout|WriteTimeout|timed out/i],
  ['cancelled', /CancelledError|was cancelled/i],
];

/** `Client error '429 Too Many Requests'`, `status=503`, `500, message=`, `HTTP 404`. */
const STATUS =
  /(?:Client error|Server error|HTTP(?:\/\d(?:\.\d)?)?(?: error| status)?|status(?:_code)?)[ =:']+(\d{3})\b|(?:^|ClientResponseError: )(\d{3}), message=/im;

/** A text that is empty or fits no rule is `other`. */
export function pythonError(text: string): PythonError {
  const status = statusOf(text);
  if (status !== null) return { reason: statusReason(status), http_status: status };
  const reason = PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'other';
  return { reason, http_status: null };
}

/** How a request ended: what a record holds of it. A request without a failure had status 200. */
export function howEnded(failure: PythonError | null): Pick<RequestRecord, 'outcome' | 'reason' | 'http_status'> {
  const { reason, http_status } = failure ?? { reason: null, http_status: 200 };
  return { outcome: outcomeOf(reason), reason, http_status };
}

/**
 * How many requests failed for which reason, from counts of which several may have the same. Empty, as what is not reported, if
 * one of them is unknown.
 */
export function errorCounts(counts: Iterable<readonly [ErrorReason, number | null]>): ResultFile['errors'] {
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const [reason, count] of counts) {
    if (count === null) return {};
    errors[reason] = (errors[reason] ?? 0) + count;
  }
  return errors;
}

/** vLLM and SGLang keep the reason phrase of the response, SGLang with the body after a colon. */
function statusOf(text: string): number | null {
  const code = STATUS.exec(text);
  const digits = code?.[1] ?? code?.[2];
  if (digits !== undefined) return asStatus(Number(digits));
  const phrase = text.split(/[:\n]/, 1)[0]?.trim().toLowerCase() ?? '';
  const named = Object.entries(STATUS_CODES).find(([, name]) => name?.toLowerCase() === phrase);
  return named === undefined ? null : asStatus(Number(named[0]));
}

function asStatus(status: number): number | null {
  return status >= 400 && status <= 599 ? status : null;
}

function statusReason(status: number): ErrorReason {
  if (status === 429) return 'http_429';
  return status >= 500 ? 'http_5xx' : 'http_4xx';
}
