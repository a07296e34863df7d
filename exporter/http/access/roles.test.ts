import { expect, test } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { parseRoles } from './roles.ts';

/** Of `test`, from the examples of SHA-256 in many manuals: printf %s test | sha256sum. */
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const parsed = (text: string) => parseRoles(text, 'roles.yml', (name) => name === 'ana');

test('users, tokens and clients without either', () => {
  const { users, tokens, anonymous } = parsed(`
users:
  ana: [read, annotate]
tokens:
  ci: { token_sha256: ${DIGEST}, roles: [start-runs] }
anonymous: [read]
`);
  expect([...users]).toEqual([['ana', new Set(['read', 'annotate'])]]);
  expect(tokens).toEqual([{ digest: Buffer.from(DIGEST, 'hex'), roles: new Set(['start-runs']) }]);
  expect(anonymous).toEqual(new Set(['read']));
});

test.each([
  ['', 'roles.yml: no one has a role'],
  ['users: {bo: [read]}', 'roles.yml:1: users.bo is not among basic_auth_users of --web-config-file'],
  ['users: {ana: [admin]}', "users.ana has the unknown value 'admin'; the values are read, annotate, write-baseline,"],
  ['users: {ana: read}', 'users.ana must be a list of strings'],
  ['groups: {}', 'groups is not a known key; the keys are users, tokens, anonymous'],
  ['tokens: {ci: {roles: [read]}}', 'tokens.ci.token_sha256 must be 64 digits'],
  ['tokens: {ci: {token_sha256: test, roles: [read]}}', 'tokens.ci.token_sha256 must be 64 digits'],
  ['tokens: {ci: {token: x}}', 'tokens.ci.token is not a known key'],
  [
    `tokens: {a: {token_sha256: ${DIGEST}, roles: [read]}, b: {token_sha256: ${DIGEST}, roles: []}}`,
    'tokens.b has the token of another entry',
  ],
  ['users: {ana: [read]}\nusers: {ana: []}', 'roles.yml:2: Map keys must be unique'],
])('%j is refused', (text, message) => {
  expect(() => parsed(text)).toThrow(ConfigurationError);
  expect(() => parsed(text)).toThrow(message);
});
