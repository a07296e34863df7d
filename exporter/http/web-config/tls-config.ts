import { ownValue } from '../../../core/text/own-value.ts';
import type { PeerCertificate, SecureContextOptions, SecureVersion } from 'node:tls';

/** PEM text, or the path of a file with it, relative to the folder of the configuration file. */
export type Pem = { readonly text: string } | { readonly file: string };

/** Go's `tls.ClientAuthType`: whether clients present a certificate, and whether it is verified. */
export const CLIENT_AUTH_TYPES = [
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
export type TlsVersion = keyof typeof VERSIONS;
export const TLS_VERSIONS = Object.keys(VERSIONS) as TlsVersion[];

/** `tls_server_config` of the web configuration file. */
export interface TlsConfig {
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

export const isCipherSuite = (name: string): boolean =>
  Object.hasOwn(CIPHER_SUITES, name) || TLS_1_3_SUITES.includes(name);
export const isCurve = (name: string): boolean => Object.hasOwn(CURVES, name);

/** Node's form of the configuration; `pem` reads what a member refers to. */
export function secureContext(tls: TlsConfig, pem: (source: Pem) => string): SecureContextOptions {
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
