import { ConfigurationError } from '../../errors/configuration-error.ts';
import { RawTransport } from './raw/raw-transport.ts';
import type { Transport, TransportChoice } from './transport.ts';
import { UndiciTransport } from './undici/undici-transport.ts';
import type { UndiciTransportOptions } from './undici/undici-transport.ts';

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
