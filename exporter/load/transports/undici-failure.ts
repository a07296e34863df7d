import { ownValue } from '../../../core/text/nearest-names.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { maxHeaderSize } from '../../http-client/node-http.ts';
import { isObject } from '../endpoints/endpoint.ts';
import { beginsHttp2, HTTP2_ONLY, type TransportFailure } from './transport.ts';

const REASONS: Readonly<Record<string, ErrorReason>> = {
  ECONNREFUSED: 'connect_refused',
  ENOENT: 'connect_refused', // of a unix socket
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  PATH_LENGTH_EXCEEDED: 'tls',
};

const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_)/;

/** Node names the phase only in the text when the peer closes the connection during the handshake. */
const TLS_MESSAGE = /before secure TLS connection was established/;

/** Undici's parser sets no code; of its errors only this one means that the connection ended within a response. */
const CUT_MESSAGE = /\(Invalid EOF state\)$/;

/** Resource limits of this machine, which are not the server's fault. */
const LOCAL_LIMITS: Readonly<Record<string, string>> = {
  EMFILE: 'this process has reached its limit of open files (ulimit -n)',
  ENFILE: 'this machine has reached its limit of open files',
  EADDRNOTAVAIL: 'this machine has no free local port for that server',
};

/**
 * The first code on the path to the root cause: an aggregate (several addresses tried) or a wrapper may have none
 * itself.
 */
function codeOf(error: unknown): string {
  if (!isObject(error)) return '';
  if (typeof error.code === 'string') return error.code;
  return codeOf(Array.isArray(error.errors) ? (error.errors as unknown[])[0] : error.cause);
}

const isParserError = (error: unknown): error is Readonly<Record<string, unknown>> =>
  isObject(error) && error.name === 'HTTPParserError';

/** What a response is instead of one of HTTP/1.1, where undici's own text does not say it; null: something else. */
function protocolFailure(error: unknown, code: string, text: string): string | null {
  // The bytes at which the parser stopped, as text.
  if (isParserError(error) && typeof error.data === 'string' && beginsHttp2(Buffer.from(error.data))) return HTTP2_ONLY;
  if (text === 'bad upgrade') return 'the server switched to another protocol';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return `more than ${maxHeaderSize} bytes of header lines`;
  return code === 'ERR_ASSERTION' ? 'not a response of HTTP/1' : null;
}

/** Maps an error of undici or of Node's sockets to one of the defined reasons. */
export function undiciFailure(error: unknown, secrets: readonly string[]): TransportFailure {
  const code = codeOf(error);
  const text = isObject(error) && typeof error.message === 'string' && error.message !== '' ? error.message : code;
  const limit = ownValue(LOCAL_LIMITS, code);
  if (limit !== undefined) return { reason: 'other', message: `${code}: ${limit}; the server is not at fault` };
  const known = protocolFailure(error, code, text);
  if (known !== null) return { reason: 'protocol', message: known };
  const message = messageExcerpt(code === '' || text.includes(code) ? text : `${code}: ${text}`, secrets);
  if (TLS_CODE.test(code) || TLS_MESSAGE.test(text)) return { reason: 'tls', message };
  if (CUT_MESSAGE.test(text)) return { reason: 'reset', message };
  if (code.startsWith('HPE_') || isParserError(error)) return { reason: 'protocol', message };
  return { reason: ownValue(REASONS, code) ?? 'other', message };
}
