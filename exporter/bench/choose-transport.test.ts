import { expect, test } from '@jest/globals';
import { chooseTransport } from './choose-transport.ts';
import { RawTransport } from './raw/raw-transport.ts';
import { UndiciTransport } from './undici-transport.ts';

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

test('raw for https is refused', () => {
  expect(() => chooseTransport('raw', TLS)).toThrow('--transport raw speaks http only: take auto or undici for https');
});
