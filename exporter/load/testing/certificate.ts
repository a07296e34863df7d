import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A certificate made for one test, with its private key, both as PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** DNS names it is for. */
  readonly names: readonly string[];
}

const ONE_DAY_MS = 86_400_000;

/** Valid from yesterday to tomorrow, for localhost. */
export const VALID: CertificateOptions = {
  notBefore: new Date(Date.now() - ONE_DAY_MS),
  notAfter: new Date(Date.now() + ONE_DAY_MS),
  names: ['localhost'],
};

/** Over since yesterday. */
export const EXPIRED: CertificateOptions = {
  ...VALID,
  notBefore: new Date(Date.now() - 2 * ONE_DAY_MS),
  notAfter: new Date(Date.now() - ONE_DAY_MS),
};

/** A self-signed X.509 v3 certificate (RFC 5280) with an ECDSA P-256 key, written as DER (X.690) by hand. */
export function selfSignedCertificate(options: CertificateOptions): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));
  const name = sequence(set(sequence(oid([2, 5, 4, 3]), der(0x0c, Buffer.from('llmbench test')))));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name,
    sequence(time(options.notBefore), time(options.notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(basicConstraints(), alternativeNames(options.names))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, privateKey)));
  return { cert: pem('CERTIFICATE', certificate), key: exported(privateKey) };
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);

const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts);

const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));

const bitString = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);

/** Each arc in base 128, the first two joined. */
function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const arcs = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.from(arcs));
}

/** GeneralizedTime, YYYYMMDDHHMMSSZ. */
function time(instant: Date): Buffer {
  return der(0x18, Buffer.from(instant.toISOString().replace(/[-:T]|\.\d+/g, '')));
}

/** It signs itself, so it is its own authority. */
function basicConstraints(): Buffer {
  return sequence(
    oid([2, 5, 29, 19]),
    der(0x01, Buffer.from([0xff])),
    der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
  );
}

function alternativeNames(names: readonly string[]): Buffer {
  return sequence(oid([2, 5, 29, 17]), der(0x04, sequence(...names.map((name) => der(0x82, Buffer.from(name))))));
}

function exported(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
