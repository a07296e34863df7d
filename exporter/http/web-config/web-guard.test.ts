import { expect, test } from '@jest/globals';
import { BasicAuth, basicCredentials, hashOfNoUser, TokenBucket } from './web-guard.ts';

/** The hash of `test` in Prometheus' guide to basic authentication. */
const USERS = new Map([['admin', '$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay']]);
/** The same password with the lowest cost. */
const CHEAP_USERS = new Map([['admin', '$2b$04$bmjsd2AZignz315k/Seize7qa4PIsN6q/OzKSzS773MTnRgkIvFgq']]);
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

test('a password is compared with its hash, also when it was accepted before', async () => {
  const auth = new BasicAuth();
  expect(await auth.check(basic('admin:test'), USERS)).toEqual({ user: 'admin' });
  expect(await auth.check(basic('admin:test'), USERS)).toEqual({ user: 'admin' });
  expect(await auth.check(basic('admin:Test'), USERS)).toBe('refused');
  expect(await auth.check(basic('other:test'), USERS)).toBe('refused');
  expect(await auth.check(undefined, USERS)).toBe('refused');
});

test('an accepted password ends with its user and with its hash', async () => {
  const auth = new BasicAuth();
  await auth.check(basic('admin:test'), CHEAP_USERS);
  expect(await auth.check(basic('admin:test'), new Map())).toBe('refused');
  const changed = new Map([['admin', '$2b$04$CwTycUXWue0Thq9StjUM0uJ8.LqRcBSnfW8mVx2yTQ9eN1m6V0o3K']]);
  expect(await auth.check(basic('admin:test'), changed)).toBe('refused');
});

test('a user is not accepted by a name and password that are the parts of another one (CVE-2022-46146)', async () => {
  const auth = new BasicAuth();
  const hash = CHEAP_USERS.get('admin') ?? '';
  expect(await auth.check(basic(`admin${hash}:fakepassword`), CHEAP_USERS)).toBe('refused');
  expect(await auth.check(basic(`admin:${hash}fakepassword`), CHEAP_USERS)).toBe('refused');
  expect(await auth.check(basic(`admin:${hash}`), CHEAP_USERS)).toBe('refused');
});

test('an unknown user costs as much as the most expensive known one', () => {
  const costly = new Map([...USERS, ['b', '$2b$14$CwTycUXWue0Thq9StjUM0uJ8.LqRcBSnfW8mVx2yTQ9eN1m6V0o3K']]);
  expect([hashOfNoUser(USERS), hashOfNoUser(costly)].map((hash) => hash.slice(0, 7))).toEqual(['$2b$12$', '$2b$14$']);
  expect(hashOfNoUser(new Map())).toMatch(/^\$2b\$04\$[./A-Za-z0-9]{53}$/);
});

test('correct passwords are accepted beside wrong ones, and the event loop continues meanwhile', async () => {
  const auth = new BasicAuth();
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 1);
  const texts = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? 'admin:test' : `admin:wrong${i}`));
  const results = await Promise.all(texts.map((text) => auth.check(basic(text), USERS)));
  clearInterval(ticking);
  expect(results).toEqual(texts.map((text) => (text === 'admin:test' ? { user: 'admin' } : 'refused')));
  expect(turns).toBeGreaterThan(8);
});

test('guesses beyond those that wait are not computed', async () => {
  const auth = new BasicAuth();
  const results = await Promise.all(Array.from({ length: 30 }, (_, i) => auth.check(basic(`admin:${i}`), CHEAP_USERS)));
  expect(results.filter((result) => result === 'busy')).toHaveLength(10);
});

test.each([
  [basic('a:b'), { name: 'a', password: 'b' }],
  [basic('a:b:c'), { name: 'a', password: 'b:c' }],
  [basic('a:'), { name: 'a', password: '' }],
  [basic('ü:é'), { name: 'ü', password: 'é' }],
  [basic('a'), null],
  ['Bearer abc', null],
  ['Basic !', null],
  [undefined, null],
])('credentials of %p', (header, expected) => {
  expect(basicCredentials(header)).toEqual(expected);
});

test('the burst at once, then one per interval', () => {
  const limit = { interval_ms: 1000, burst: 2 };
  const bucket = new TokenBucket();
  const taken = [5000, 5000, 5000, 5999, 6000, 6001, 8000, 8000, 8000].map((at_ms) => bucket.take(limit, at_ms));
  expect(taken).toEqual([true, true, false, false, true, false, true, true, false]);
});
