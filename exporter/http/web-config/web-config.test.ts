import { expect, test, describe } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { parseWebConfig, isClientAllowed, type ClientAuthType, type PresentedCertificate } from './web-config.ts';

/** The hash of `test` in Prometheus' guide to basic authentication. */
const HASH = '$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay';
const parsed = (text: string): ReturnType<typeof parseWebConfig> => parseWebConfig(text, 'web.yml');

test('every section', () => {
  const config = parsed(`
tls_server_config:
  cert_file: server.crt
  key: PEM
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  client_allowed_sans: [prometheus.example.org]
  min_version: TLS13
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [CurveP256]
http_server_config:
  http2: false
  headers:
    X-Frame-Options: deny
    Strict-Transport-Security: max-age=31536000
    X-XSS-Protection: ''
basic_auth_users:
  prometheus: ${HASH}
rate_limit:
  interval: 1m30s
  burst: 20
`);
  expect(config.tls).toEqual({
    cert: { file: 'server.crt' },
    key: { text: 'PEM' },
    clientAuth: 'RequireAndVerifyClientCert',
    clientCa: { file: 'ca.crt' },
    allowedSans: ['prometheus.example.org'],
    minVersion: 'TLS13',
    maxVersion: 'TLS13',
    cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    preferServerCipherSuites: false,
    curves: ['CurveP256'],
  });
  expect(config.headers).toEqual({ 'X-Frame-Options': 'deny', 'Strict-Transport-Security': 'max-age=31536000' });
  expect([...config.users]).toEqual([['prometheus', HASH]]);
  expect(config.rateLimit).toEqual({ interval_ms: 90_000, burst: 20 });
});

test.each(['', '{}', 'basic_auth_users:\n', 'rate_limit: {interval: 0}'])('%j restricts nothing', (text) => {
  expect(parsed(text)).toEqual({ tls: null, headers: {}, users: new Map(), rateLimit: null });
});

test('the defaults of TLS', () => {
  expect(parsed('tls_server_config: {cert: C, key: K}').tls).toMatchObject({
    ...{ clientAuth: 'NoClientCert', clientCa: null, minVersion: 'TLS12', maxVersion: 'TLS13', cipherSuites: [] },
    preferServerCipherSuites: true,
  });
});

test.each([
  ['[]', 'web.yml: the file must be a mapping'],
  ['users: {}', 'web.yml:1: users is not a known key; the keys are tls_server_config, '],
  ['tls_server_config: {cert_file: a}', 'web.yml:1: tls_server_config.key_file or key is required'],
  ['tls_server_config: {cert: a, cert_file: b, key: c}', 'tls_server_config.cert and cert_file exclude each other'],
  [
    'tls_server_config: {cert: a, key: b, min_version: SSL3}',
    "min_version is 'SSL3' and must be one of TLS10, TLS11, TLS12, TLS13",
  ],
  ['tls_server_config: {cert: a, key: b, cipher_suites: [RC4]}', "cipher_suites has the unknown value 'RC4'"],
  ['tls_server_config: {cert: a, key: b, cipher_suites: [constructor]}', "unknown value 'constructor'"],
  ['tls_server_config: {cert: a, key: b, curve_preferences: [toString]}', "unknown value 'toString'"],
  [
    'tls_server_config: {cert: a, key: b, client_auth_type: RequireAndVerifyClientCert}',
    "client_auth_type 'RequireAndVerifyClientCert' requires client_ca_file or client_ca",
  ],
  ['tls_server_config: {cert: a, key: b, client_ca_file: c}', 'tls_server_config.client_ca requires client_auth_type'],
  ['tls_server_config: {cert: a, key: b, client_allowed_sans: [x]}', 'client_allowed_sans requires a client_auth_type'],
  ['http_server_config: {headers: {X-Frame-Options: allow}}', "headers.X-Frame-Options is 'allow' and must be one"],
  ['http_server_config: {headers: {X-Other: a}}', 'headers.X-Other is not a known key'],
  ['http_server_config: {headers: {X-XSS-Protection: "a\\nb"}}', 'X-XSS-Protection must be one line of ASCII'],
  ['basic_auth_users: {a: secret}', 'basic_auth_users.a must be a bcrypt hash'],
  [`basic_auth_users: {a: ${HASH.replace('$12$', '$18$')}}`, 'with a cost of at most 14'],
  [`basic_auth_users: {"a:b": ${HASH}}`, 'basic_auth_users.a:b must not contain a colon'],
  [`basic_auth_users: {a: ${HASH}, a: ${HASH}}`, 'web.yml:1: '],
  ['rate_limit: {interval: 1s}', 'rate_limit.burst must be a whole number from 1 to 1000000'],
  ['rate_limit: {interval: 1 s, burst: 1}', "rate_limit.interval must be a duration such as '1s' or '100ms'"],
])('%s is refused', (text, message) => {
  expect(() => parsed(text)).toThrow(ConfigurationError);
  expect(() => parsed(text)).toThrow(message);
});

test('a refused secret is not repeated', () => {
  expect(() => parsed('basic_auth_users: {a: open-sesame}')).toThrow(/^(?!.*open-sesame)/s);
});

const NONE: PresentedCertificate = { certificate: null, isVerified: false };
const SELF_SIGNED: PresentedCertificate = { certificate: { subjectaltname: 'DNS:a.example.org' }, isVerified: false };
const VERIFIED: PresentedCertificate = { ...SELF_SIGNED, isVerified: true };

// The meaning of each type: https://pkg.go.dev/crypto/tls#ClientAuthType
test.each<[ClientAuthType, boolean, boolean, boolean]>([
  ['NoClientCert', true, true, true],
  ['RequestClientCert', true, true, true],
  ['RequireAnyClientCert', false, true, true],
  ['VerifyClientCertIfGiven', true, false, true],
  ['RequireAndVerifyClientCert', false, false, true],
])('%s: without a certificate %s, self-signed %s, verified %s', (clientAuth, without, selfSigned, verified) => {
  const allowed = [NONE, SELF_SIGNED, VERIFIED].map((client) =>
    isClientAllowed({ clientAuth, allowedSans: [] }, client),
  );
  expect(allowed).toEqual([without, selfSigned, verified]);
});

describe('allowed subject alternative names', () => {
  const isAllowed = (subjectaltname: string | undefined, ...allowedSans: string[]): boolean =>
    isClientAllowed(
      { clientAuth: 'RequireAndVerifyClientCert', allowedSans },
      { certificate: subjectaltname === undefined ? {} : { subjectaltname }, isVerified: true },
    );

  test('one of several names is enough', () => {
    expect(isAllowed('DNS:a.example.org, DNS:b.example.org', 'b.example.org')).toBe(true);
    expect(isAllowed('IP Address:10.0.0.1, email:a@example.org', '10.0.0.1')).toBe(true);
    expect(isAllowed('URI:spiffe://cluster/prometheus', 'spiffe://cluster/prometheus')).toBe(true);
  });

  test('the whole name must be equal', () => {
    expect(isAllowed('DNS:xa.example.org', 'a.example.org')).toBe(false);
    expect(isAllowed(undefined, 'a.example.org')).toBe(false);
  });

  test('a name with a separator in it does not pass for two', () => {
    expect(isAllowed('DNS:"evil.example.org, DNS:a.example.org"', 'a.example.org')).toBe(false);
  });
});
