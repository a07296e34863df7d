import { ConfigurationError } from '../../errors/configuration-error.ts';
import { RawTransport } from './raw/raw-transport.ts';
import type { Transport } from './transport.ts';
import { UndiciTransport } from './undici/undici-transport.ts';
import type { UndiciTransportOptions } from './undici/undici-transport.ts';

/**
 * `undici` supports http and https. `raw` uses less CPU and takes timestamps earlier, supports http only, and fails
 * responses that its strict reader rejects. `auto` is raw where that is possible: https and proxies use undici, and so does a
 * server from the first response whose head the strict reader rejects.
 */
export const TRANSPORT_CHOICES = ['auto', 'undici', 'raw'] as const;

export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

export const DEFAULT_TRANSPORT: TransportChoice = 'auto';

/** The transport to one server. Throws a `ConfigurationError` when the choice does not support it. */
export function chooseTransport(choice: TransportChoice, options: UndiciTransportOptions): Transport {
  const { proxy = null } = options;
  if (choice === 'raw' && proxy !== null)
    throw new ConfigurationError(
      `--transport raw does not support a proxy, here ${proxy.name}: use --transport auto, or --no-proxy`,
    );
  if (choice === 'undici' || proxy !== null) return new UndiciTransport(options);
  const isPlain = options.origin.startsWith('http:');
  if (choice === 'raw' && !isPlain)
    throw new ConfigurationError('--transport raw supports http only: use auto or undici for https');
  if (!isPlain) return new UndiciTransport(options);
  return new RawTransport(choice === 'raw' ? options : { ...options, fallback: new UndiciTransport(options) });
}
