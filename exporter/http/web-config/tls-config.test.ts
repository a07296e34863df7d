import { describe, expect, test } from '@jest/globals';
import { isClientAllowed, type ClientAuthType, type PresentedCertificate } from './tls-config.ts';

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
