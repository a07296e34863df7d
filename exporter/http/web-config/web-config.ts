import { parseDocument } from 'yaml';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { CLIENT_AUTH_TYPES, isCipherSuite, isCurve, TLS_VERSIONS, type TlsConfig } from './tls-config.ts';

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
const MOST_USERS = 1000;
const MOST_BURST = 1_000_000;
const BCRYPT_HASH = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** Above this cost one wrong password occupies the process for seconds. */
const MOST_BCRYPT_COST = 14;
/** Units of Prometheus' durations, in milliseconds, in the order in which they may follow each other. */
const DURATION_UNITS = { y: 31_536_000_000, w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * Reads the format of https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md. `file` begins
 * the message of the `ConfigurationError` that is thrown for anything else; values of secrets are not repeated in it.
 */
export function parseWebConfig(text: string, file: string): WebConfig {
  const document = parseDocument(text, { uniqueKeys: true, strict: true, prettyErrors: false });
  const [problem] = document.errors;
  if (problem !== undefined) throw new ConfigurationError(`${file}: ${problem.message}`);
  const root = new Section(document.toJS({ maxAliasCount: 0 }) ?? {}, file, '');
  root.onlyHas(SECTIONS);
  return {
    tls: root.has('tls_server_config') ? tlsOf(root.section('tls_server_config')) : null,
    headers: headersOf(root.section('http_server_config')),
    users: usersOf(root.section('basic_auth_users')),
    rateLimit: rateLimitOf(root.section('rate_limit')),
  };
}

function tlsOf(section: Section): TlsConfig {
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

function headersOf(section: Section): WebConfig['headers'] {
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

function usersOf(section: Section): WebConfig['users'] {
  const names = section.keys();
  if (names.length > MOST_USERS) section.refuse('', `has ${names.length} users; the maximum is ${MOST_USERS}`);
  return new Map(
    names.map((name) => {
      if (name.includes(':')) section.refuse(name, 'must not contain a colon');
      const hash = section.text(name) ?? '';
      const cost = Number(BCRYPT_HASH.exec(hash)?.[1]);
      if (!(cost <= MOST_BCRYPT_COST)) {
        section.refuse(name, `must be a bcrypt hash with a cost of at most ${MOST_BCRYPT_COST}: htpasswd -nBC 10 ""`);
      }
      return [name, hash];
    }),
  );
}

function rateLimitOf(section: Section): RateLimit | null {
  section.onlyHas(['interval', 'burst']);
  const interval_ms = section.duration_ms('interval') ?? 0;
  return interval_ms === 0 ? null : { interval_ms, burst: section.count('burst', 1, MOST_BURST) };
}

/** One mapping of the file; a value that does not fit is refused with its place. */
class Section {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #name: string;

  constructor(value: unknown, file: string, name: string) {
    this.#file = file;
    this.#name = name;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.refuse('', 'must be a mapping');
    this.#values = value as Record<string, unknown>;
  }

  refuse(key: string, problem: string): never {
    const place = [this.#name, key].filter((part) => part !== '').join('.');
    throw new ConfigurationError(`${this.#file}: ${place === '' ? 'the file' : place} ${problem}`);
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return (this.#values[key] ?? null) !== null;
  }

  onlyHas(allowed: readonly string[]): void {
    const unknown = this.keys().find((key) => !allowed.includes(key));
    if (unknown !== undefined) this.refuse(unknown, `is not a known key; the keys are ${allowed.join(', ')}`);
  }

  section(key: string): Section {
    const name = this.#name === '' ? key : `${this.#name}.${key}`;
    return new Section(this.#values[key] ?? {}, this.#file, name);
  }

  text(key: string): string | null {
    const value = this.#values[key] ?? null;
    return value === null || typeof value === 'string' ? value : this.refuse(key, 'must be a string');
  }

  texts(key: string, isAllowed: (text: string) => boolean): readonly string[] {
    const values = this.#values[key] ?? [];
    if (!Array.isArray(values)) this.refuse(key, 'must be a list of strings');
    return (values as unknown[]).map((value) => {
      if (typeof value !== 'string') this.refuse(key, 'must be a list of strings');
      return isAllowed(value) ? value : this.refuse(key, `has the unknown value '${value}'`);
    });
  }

  choice<T extends string>(key: string, allowed: readonly T[]): T | null {
    const value = this.text(key);
    if (value === null) return null;
    return allowed.find((each) => each === value) ?? this.refuse(key, `must be one of ${allowed.join(', ')}`);
  }

  boolean(key: string): boolean | null {
    const value = this.#values[key] ?? null;
    return value === null || typeof value === 'boolean' ? value : this.refuse(key, 'must be true or false');
  }

  count(key: string, min: number, max: number): number {
    const value = this.#values[key];
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : this.refuse(key, `must be a whole number from ${min} to ${max}`);
  }

  /** A duration as Prometheus writes it, such as `1m30s`; 0 needs no unit. */
  duration_ms(key: string): number | null {
    const value = this.#values[key] ?? null;
    if (value === null || value === 0) return value;
    const units = Object.entries(DURATION_UNITS);
    const pattern = new RegExp(`^${units.map(([unit]) => `(?:(\\d{1,9})${unit})?`).join('')}$`);
    const parts = typeof value === 'string' && value !== '' ? pattern.exec(value === '0' ? '0s' : value) : null;
    if (parts === null) this.refuse(key, "must be a duration such as '1s' or '100ms'");
    return units.reduce((sum, [, unit_ms], i) => sum + Number(parts[i + 1] ?? 0) * unit_ms, 0);
  }

  /** PEM text, from `<key>` itself or the path in `<key>_file`. */
  textOrFile(key: string): TlsConfig['clientCa'] {
    const [text, path] = [this.text(key), this.text(`${key}_file`)];
    if (text !== null && path !== null) this.refuse(key, `and ${key}_file exclude each other`);
    if (path !== null) return { file: path };
    return text === null ? null : { text };
  }
}
