import { expect, test } from '@jest/globals';
import { chooseTransport } from './choose-transport.ts';
import { RoundRobinTransport } from './round-robin-transport.ts';
import { RawTransport } from './raw/raw-transport.ts';
import { UndiciTransport } from './undici/undici-transport.ts';

const PLAIN = { origin: 'http://127.0.0.1:1' };
const TLS = { origin: 'https://127.0.0.1:1' };

test.each([
  ['undici', PLAIN, UndiciTransport],
  ['undici', TLS, UndiciTransport],
  ['raw', PLAIN, RawTransport],
  ['auto', PLAIN, RawTransport],
  ['auto', TLS, UndiciTransport],
] as const)('%s for %j', (choice, options, expected) => {
  expect(chooseTransport(choice, options)).toBeInstanceOf(expected);
});

test('several servers have one kind of transport, or an unreported one', () => {
  const [raw, tls] = [chooseTransport('auto', PLAIN), chooseTransport('auto', TLS)];
  expect([raw.kind, tls.kind]).toEqual(['raw', 'undici']);
  expect(new RoundRobinTransport([raw, chooseTransport('raw', PLAIN)]).kind).toBe('raw');
  expect(new RoundRobinTransport([raw, tls]).kind).toBeNull();
});

test('raw for https is refused', () => {
  expect(() => chooseTransport('raw', TLS)).toThrow('--transport raw supports http only: use auto or undici for https');
});
