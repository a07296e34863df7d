import { hostname } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { hostCheck } from './allowed-host.ts';

const refused = (
  headers: { host?: string; origin?: string },
  host = '127.0.0.1',
  allowedHosts: string[] = [],
): boolean => hostCheck({ host, allowedHosts })({ headers, rawHeaders: [] }) !== null;

describe('listening on loopback', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:9469',
    'localhost:9469',
    'LOCALHOST',
    'localhost.',
    '[::1]:9469',
    '127.1.2.3',
    'a.localhost',
    '2130706433',
  ])('%s is this machine', (host) => expect(refused({ host })).toBe(false));

  test.each([
    '',
    'evil.example',
    'evil.example:9469',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example@127.0.0.1',
    '127.0.0.1/evil.example',
    'exporter',
    '192.168.0.7',
    '[::2]',
    'xn--localhost-x',
  ])('%p is not', (host) => expect(refused({ host })).toBe(true));

  test('a request without Host is refused', () => expect(refused({})).toBe(true));
});

describe('listening on every address', () => {
  test.each(['127.0.0.1', '192.168.0.7:9469', '[fd00::7]', 'exporter:9469', hostname()])('%s is allowed', (host) =>
    expect(refused({ host }, '0.0.0.0')).toBe(false),
  );

  test.each(['evil.example', 'exporter.evil.example:9469', 'a.b'])(
    '%s is not: its owner can point it to any address',
    (host) => expect(refused({ host }, '::')).toBe(true),
  );
});

test.each([
  [['bench.example.org'], 'bench.example.org:9469', false],
  [['Bench.Example.org'], 'BENCH.example.ORG', false],
  [['bench.example.org'], 'x.bench.example.org', true],
  [['.svc.cluster.local'], 'llmbench.bench.svc.cluster.local', false],
  [['.svc.cluster.local'], 'evilsvc.cluster.local', true],
  [['*'], 'anything.example', false],
])('with --allowed-hosts %p, %s is refused: %p', (allowed, host, expected) => {
  expect(refused({ host }, '127.0.0.1', allowed)).toBe(expected);
});

test.each([
  ['http://127.0.0.1:9469', false],
  ['https://127.0.0.1:9469', false],
  ['http://127.0.0.1:3000', true],
  ['http://localhost:9469', true],
  ['http://evil.example', true],
  ['null', true],
  ['chrome-extension://127.0.0.1:9469', true],
])('an Origin of %s is refused: %p', (origin, expected) => {
  expect(refused({ host: '127.0.0.1:9469', origin })).toBe(expected);
});

test('the rejection is one line for any input', () => {
  const line = hostCheck({ host: '127.0.0.1', allowedHosts: [] })({
    headers: { host: 'evil\r\nX: \u001b[31m' },
    rawHeaders: [],
  });
  expect(line).toMatch(/^[\x20-\x7e]+$/);
});
