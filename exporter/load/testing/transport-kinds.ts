import { RawTransport } from '../transports/raw/raw-transport.ts';
import type { RawTransportOptions } from '../transports/raw/raw-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';

/** What all transports can be reported. */
export type PlainOptions = Omit<RawTransportOptions, 'fallback'>;

export type OpenTransport = (options: PlainOptions) => Transport;

/** Every transport there is: what one of them does, all do. */
export const TRANSPORTS: readonly (readonly [string, OpenTransport])[] = [
  ['undici', (options) => new UndiciTransport(options)],
  ['raw', (options) => new RawTransport(options)],
];
