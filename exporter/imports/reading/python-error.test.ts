import { expect, test } from '@jest/globals';
import { errorCounts, pythonError } from './python-error.ts';

// Texts of aiohttp 3 and httpx 0.28, and the reason phrases of RFC 9110.
test.each([
  ['Too Many Requests', 'http_429', 429],
  ['Not Found', 'http_4xx', 404],
  ['Service Unavailable: {"error":{"message":"busy"}}', 'http_5xx', 503],
  ["HTTPStatusError(\"Server error '500 Internal Server Error' for url 'http://x'\")", 'http_5xx', 500],
  ["Client error '429 Too Many Requests' for url", 'http_429', 429],
  ["aiohttp.client_exceptions.ClientResponseError: 400, message='Bad Request', url='http://x'", 'http_4xx', 400],
  ["400, message='Bad Request', url='http://x'", 'http_4xx', 400],
  [
    "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host 127.0.0.1:1 ssl:default [Connect call failed ('127.0.0.1', 1)]",
    'connect_refused',
    null,
  ],
  ['ConnectError("All connection attempts failed")', 'connect_refused', null],
  ['aiohttp.client_exceptions.ConnectionTimeoutError: Connection timeout to host http://x', 'connect_timeout', null],
  ['ClientConnectorDNSError: Cannot connect to host x:80 [Name or service not known]', 'dns', null],
  ['ClientConnectorCertificateError: certificate verify failed', 'tls', null],
  ['aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected', 'reset', null],
  ['ClientPayloadError: Response payload is not completed: TransferEncodingError', 'reset', null],
  ['RemoteProtocolError("peer closed connection")', 'reset', null],
  ['json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)', 'malformed_event', null],
  ['Never received a valid chunk to calculate TTFT.This response will be marked as failed!', 'no_content', null],
  ['aiohttp.client_exceptions.SocketTimeoutError: Timeout on reading data from socket', 'idle_timeout', null],
  ['ReadTimeout("")', 'idle_timeout', null],
  ['asyncio.exceptions.TimeoutError', 'request_timeout', null],
  ['asyncio.exceptions.CancelledError', 'cancelled', null],
  ['', 'other', null],
  ['KeyError: choices', 'other', null],
] as const)('%s', (text, reason, http_status) => {
  expect(pythonError(text)).toEqual({ reason, http_status });
});

test('counts of one reason add up; with one that is unknown none is known', () => {
  expect(
    errorCounts([
      ['http_5xx', 2],
      ['http_429', 1],
      ['http_5xx', 3],
    ]),
  ).toEqual({ http_5xx: 5, http_429: 1 });
  expect(
    errorCounts([
      ['http_5xx', 2],
      ['http_429', null],
    ]),
  ).toEqual({});
});
