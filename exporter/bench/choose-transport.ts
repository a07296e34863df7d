import { ConfigurationError } from './configuration-error.ts';
import { RawTransport } from './raw/raw-transport.ts';
import type { Transport } from './transport.ts';
import { UndiciTransport } from './undici-transport.ts';
import type { UndiciTransportOptions } from './undici-transport.ts';

/**
 * `undici` speaks everything. `raw` costs less CPU and stamps earlier, speaks plain http only and fails what its strict
 * reader refuses. `auto` is raw where that is possible: https goes to undici, and so does a server from the first answer
 * on whose head the strict reader refuses.
 */
export const TRANSPORT_CHOICES = ['auto', 'undici', 'raw'] as const;

export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

export const DEFAULT_TRANSPORT: TransportChoice = 'auto';

/** The way to one server. Throws a `ConfigurationError` when the choice cannot reach it. */
export function chooseTransport(choice: TransportChoice, options: UndiciTransportOptions): Transport {
  if (choice === 'undici') return new UndiciTransport(options);
  const isPlain = options.origin.startsWith('http:');
  if (choice === 'raw' && !isPlain)
    throw new ConfigurationError('--transport raw speaks http only: take auto or undici for https');
  if (!isPlain) return new UndiciTransport(options);
  return new RawTransport(choice === 'raw' ? options : { ...options, fallback: new UndiciTransport(options) });
}
