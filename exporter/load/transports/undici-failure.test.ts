import { describe, expect, test } from '@jest/globals';
import { undiciFailure } from './undici-failure.ts';

const coded = (code: string, message = 'x'): Error => Object.assign(new Error(message), { code });

describe('undiciFailure', () => {
  test.each([
    ['ECONNREFUSED', 'connect_refused'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout'],
    ['ETIMEDOUT', 'connect_timeout'],
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['EPROTO', 'tls'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
    ['HPE_INVALID_CHUNK_SIZE', 'protocol'],
    ['UND_ERR_INVALID_ARG', 'other'],
  ])('%s is %s', (code, reason) => {
    expect(undiciFailure(coded(code), [])).toEqual({ reason, message: `${code}: x` });
  });

  test('resource limits of this machine are not attributed to the server', () => {
    expect(undiciFailure(coded('EMFILE', 'connect EMFILE 127.0.0.1:1 - Local (undefined:undefined)'), [])).toEqual({
      reason: 'other',
      message: 'EMFILE: this process has reached its limit of open files (ulimit -n); the server is not at fault',
    });
    expect(undiciFailure(coded('EADDRNOTAVAIL'), []).message).toContain('no free local port');
  });

  test('a handshake that the peer closes is a TLS error', () => {
    const text = 'Client network socket disconnected before secure TLS connection was established';
    expect(undiciFailure(coded('ECONNRESET', text), []).reason).toBe('tls');
  });

  test('a truncated response is a reset, regardless of its undici error', () => {
    const text = 'Response does not match the HTTP/1.1 protocol (Invalid EOF state)';
    expect(undiciFailure(new Error(text), [])).toEqual({ reason: 'reset', message: text });
  });

  test('the first of several addresses, or the cause, gives the code', () => {
    expect(undiciFailure(new AggregateError([coded('ECONNREFUSED')]), [])).toEqual({
      reason: 'connect_refused',
      message: 'ECONNREFUSED',
    });
    expect(undiciFailure(new Error('failed', { cause: coded('EAI_AGAIN') }), []).reason).toBe('dns');
    expect(undiciFailure('not an error', []).reason).toBe('other');
  });
});
