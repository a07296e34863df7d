import { type PeerCertificate, type SecureContextOptions, type SecureVersion, createSecureContext } from 'node:tls';
import { dirname, resolve } from 'node:path';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { yamlSection, type YamlSection } from '../../files/yaml-section.ts';
import { ConfigurationError, reasonOf } from '../../errors/expected-error.ts';
import { Reloaded, type ReadText } from '../../files/reloaded.ts';
import type { ListenTls } from '../listen.ts';

/** PEM text, or the path of a file with it, relative to the folder of the configuration file. */
type Pem = { readonly text: string } | { readonly file: string };

/** Go's `tls.ClientAuthType`: whether clients present a certificate, and whether it is verified. */
const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];

const VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const satisfies Record<
  string,
  SecureVersion
>;
type TlsVersion = keyof typeof VERSIONS;
const TLS_VERSIONS = Object.keys(VERSIONS) as TlsVersion[];

/** `tls_server_config` of the web configuration file. */
interface TlsConfig {
  readonly cert: Pem;
  readonly key: Pem;
  readonly clientAuth: ClientAuthType;
  readonly clientCa: Pem | null;
  /** The client's certificate must have one of these subject alternative names; empty: any. */
  readonly allowedSans: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Empty: the defaults of Node. */
  readonly cipherSuites: readonly string[];
  readonly preferServerCipherSuites: boolean;
  readonly curves: readonly string[];
}

/** OpenSSL's names of the suites that Go's `tls.CipherSuites` lists for TLS 1.2; those of TLS 1.3 cannot be chosen. */
const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
};
const TLS_1_3_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const CURVES: Readonly<Record<string, string>> = {
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
  X25519: 'X25519',
  X25519MLKEM768: 'X25519MLKEM768',
};

const isCipherSuite = (name: string): boolean => Object.hasOwn(CIPHER_SUITES, name) || TLS_1_3_SUITES.includes(name);
const isCurve = (name: string): boolean => Object.hasOwn(CURVES, name);

/** Node's form of the configuration; `pem` reads what a member refers to. */
function secureContext(tls: TlsConfig, pem: (source: Pem) => string): SecureContextOptions {
  const suites = tls.cipherSuites.flatMap((name) => ownValue(CIPHER_SUITES, name) ?? []);
  return {
    cert: pem(tls.cert),
    key: pem(tls.key),
    ...(tls.clientCa !== null && { ca: pem(tls.clientCa) }),
    minVersion: VERSIONS[tls.minVersion],
    maxVersion: VERSIONS[tls.maxVersion],
    honorCipherOrder: tls.preferServerCipherSuites,
    // The suites of TLS 1.3 are part of the same list in Node.
    ...(suites.length > 0 && { ciphers: [...TLS_1_3_SUITES, ...suites].join(':') }),
    ...(tls.curves.length > 0 && { ecdhCurve: tls.curves.map((name) => ownValue(CURVES, name)).join(':') }),
  };
}

/** What a TLS handshake showed of the client. */
export interface PresentedCertificate {
  /** Null: the client has none. */
  readonly certificate: Pick<PeerCertificate, 'subjectaltname'> | null;
  /** Whether a chain to the configured authority verifies it. */
  readonly isVerified: boolean;
}

/** Whether a client is let in, by Go's rules for `ClientAuthType` and the list of names. */
export function isClientAllowed(
  { clientAuth, allowedSans }: Pick<TlsConfig, 'clientAuth' | 'allowedSans'>,
  { certificate, isVerified }: PresentedCertificate,
): boolean {
  if (certificate === null) return !clientAuth.startsWith('Require');
  if (/Verify/.test(clientAuth) && !isVerified) return false;
  return allowedSans.length === 0 || subjectAlternativeNames(certificate).some((name) => allowedSans.includes(name));
}

/** Names of a certificate without their kind: `DNS:a, IP Address:10.0.0.1` are `a` and `10.0.0.1`. */
function subjectAlternativeNames({ subjectaltname = '' }: Pick<PeerCertificate, 'subjectaltname'>): string[] {
  // Node quotes a name which contains a separator, so that it cannot pass for several.
  const parts = subjectaltname.match(/[^,":]+:("(?:[^"\\]|\\.)*"|[^,]*)/g) ?? [];
  return parts.map((part) => {
    const name = part.slice(part.indexOf(':') + 1);
    return name.startsWith('"') ? String(JSON.parse(name)) : name;
  });
}

/** A token bucket: one request per interval, and `burst` at once. */
export interface RateLimit {
  readonly interval_ms: number;
  readonly burst: number;
}

/** Who may connect to an HTTP server, and how: the web configuration file of Prometheus' exporters. */
export interface WebConfig {
  /** Null: plain HTTP. */
  readonly tls: TlsConfig | null;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bcrypt hash of each user's password; without users no sign-in is required. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit: RateLimit | null;
}

const SECTIONS = ['tls_server_config', 'http_server_config', 'basic_auth_users', 'rate_limit'];
const TLS_KEYS = [
  ...['cert', 'key', 'client_ca', 'cert_file', 'key_file', 'client_ca_file', 'client_auth_type', 'client_allowed_sans'],
  ...['min_version', 'max_version', 'cipher_suites', 'prefer_server_cipher_suites', 'curve_preferences'],
];
/** The allowed values of a header; null: any text. */
const HEADERS: Readonly<Record<string, readonly string[] | null>> = {
  'Content-Security-Policy': null,
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-Content-Type-Options': ['nosniff'],
  'X-XSS-Protection': null,
  'Strict-Transport-Security': null,
};
const MAX_USERS = 1000;
const MAX_BURST = 1_000_000;
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Above this cost one wrong password occupies the process for seconds. */
const MAX_BCRYPT_COST = 14;

/**
 * Reads the format of https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md. `file` begins
 * the message of the `ConfigurationError` that is thrown for anything else; values of secrets are not repeated in it.
 */
export function parseWebConfig(text: string, file: string): WebConfig {
  const root = yamlSection(text, file);
  root.onlyHas(SECTIONS);
  return {
    tls: root.has('tls_server_config') ? tlsOf(root.section('tls_server_config')) : null,
    headers: headersOf(root.section('http_server_config')),
    users: usersOf(root.section('basic_auth_users')),
    rateLimit: rateLimitOf(root.section('rate_limit')),
  };
}

function tlsOf(section: YamlSection): TlsConfig {
  section.onlyHas(TLS_KEYS);
  const clientAuth = section.choice('client_auth_type', CLIENT_AUTH_TYPES) ?? 'NoClientCert';
  const clientCa = section.textOrFile('client_ca');
  const allowedSans = section.texts('client_allowed_sans', () => true);
  if (clientCa !== null && clientAuth === 'NoClientCert') {
    section.refuse('client_ca', "requires client_auth_type, such as 'RequireAndVerifyClientCert'");
  }
  if (clientCa === null && (clientAuth === 'RequireAndVerifyClientCert' || clientAuth === 'VerifyClientCertIfGiven')) {
    section.refuse('client_auth_type', `'${clientAuth}' requires client_ca_file or client_ca`);
  }
  if (allowedSans.length > 0 && !/^Require.*Cert$/.test(clientAuth)) {
    section.refuse('client_allowed_sans', 'requires a client_auth_type under which every client has a certificate');
  }
  const [minVersion, maxVersion] = [
    section.choice('min_version', TLS_VERSIONS),
    section.choice('max_version', TLS_VERSIONS),
  ];
  return {
    cert: section.textOrFile('cert') ?? section.refuse('cert_file', 'or cert is required'),
    key: section.textOrFile('key') ?? section.refuse('key_file', 'or key is required'),
    ...{ clientAuth, clientCa, allowedSans },
    ...{ minVersion: minVersion ?? 'TLS12', maxVersion: maxVersion ?? 'TLS13' },
    cipherSuites: section.texts('cipher_suites', isCipherSuite),
    preferServerCipherSuites: section.boolean('prefer_server_cipher_suites') ?? true,
    curves: section.texts('curve_preferences', isCurve),
  };
}

function headersOf(section: YamlSection): WebConfig['headers'] {
  section.onlyHas(['http2', 'headers']);
  section.boolean('http2');
  const headers = section.section('headers');
  headers.onlyHas(Object.keys(HEADERS));
  const given = Object.entries(HEADERS).flatMap(([name, allowed]) => {
    const value = allowed === null ? headers.text(name) : headers.choice(name, ['', ...allowed]);
    if (value !== null && !/^[\x20-\x7e]*$/.test(value)) headers.refuse(name, 'must be one line of ASCII');
    return value === null || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as Record<string, string>;
}

function usersOf(section: YamlSection): WebConfig['users'] {
  const names = section.keys();
  if (names.length > MAX_USERS) section.refuse('', `has ${names.length} users; the maximum is ${MAX_USERS}`);
  return new Map(
    names.map((name) => {
      if (name.includes(':')) section.refuse(name, 'must not contain a colon');
      const hash = section.text(name) ?? '';
      const cost = Number(BCRYPT_HASH.exec(hash)?.[1]);
      if (!(cost <= MAX_BCRYPT_COST)) {
        section.refuse(name, `must be a bcrypt hash with a cost of at most ${MAX_BCRYPT_COST}: htpasswd -nBC 10 ""`);
      }
      return [name, hash];
    }),
  );
}

function rateLimitOf(section: YamlSection): RateLimit | null {
  section.onlyHas(['interval', 'burst']);
  const interval_ms = section.duration_ms('interval') ?? 0;
  return interval_ms === 0 ? null : { interval_ms, burst: section.count('burst', 1, MAX_BURST) };
}

/** A configuration with the files that it names. */
interface LoadedWebConfig extends WebConfig {
  readonly secureContext: SecureContextOptions | null;
}

/**
 * A web configuration file that is read again when it, a certificate or a key has changed. TLS itself, and whether
 * certificates of clients are requested, are decided at the start.
 */
export class WebConfigFile {
  readonly path: string;
  readonly #loaded: Reloaded<LoadedWebConfig>;

  /** Throws a `ConfigurationError` if the file or one that it names is not valid. `problem` receives one line. */
  constructor(path: string, problem: (line: string) => void) {
    this.path = path;
    this.#loaded = new Reloaded((read, previous) => {
      const loaded = loadedFrom(path, read);
      if (previous !== null) checkKept(path, previous, loaded);
      return loaded;
    }, problem);
  }

  /** The configuration that holds now. */
  current(): LoadedWebConfig {
    return this.#loaded.current();
  }
}

function loadedFrom(path: string, read: ReadText): LoadedWebConfig {
  const config = parseWebConfig(read(path), path);
  if (config.tls === null) return { ...config, secureContext: null };
  const context = secureContext(config.tls, (pem: Pem) =>
    'text' in pem ? pem.text : read(resolve(dirname(path), pem.file)),
  );
  try {
    createSecureContext(context);
  } catch (error) {
    throw new ConfigurationError(`${path}: tls_server_config cannot be used: ${reasonOf(error)}`);
  }
  return { ...config, secureContext: context };
}

function checkKept(path: string, previous: WebConfig, next: WebConfig): void {
  if ((next.tls === null) !== (previous.tls === null)) {
    throw new ConfigurationError(`${path}: a restart is required to switch TLS on or off`);
  }
  if ((next.tls?.clientAuth === 'NoClientCert') !== (previous.tls?.clientAuth === 'NoClientCert')) {
    throw new ConfigurationError(`${path}: a restart is required to begin or end requesting certificates`);
  }
}

/** TLS by a web configuration file; null: the file does not configure it. */
export function webTls(file: WebConfigFile): ListenTls | null {
  const { tls } = file.current();
  if (tls === null) return null;
  return {
    requestsCertificate: tls.clientAuth !== 'NoClientCert',
    context() {
      return file.current().secureContext ?? {};
    },
    isAllowed(socket) {
      const config = file.current().tls ?? tls;
      const certificate = socket.getPeerCertificate();
      const isGiven = Object.keys(certificate).length > 0;
      return isClientAllowed(config, { certificate: isGiven ? certificate : null, isVerified: socket.authorized });
    },
  };
}
