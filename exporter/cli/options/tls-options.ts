import type { TlsFiles } from '../../http-client/tls-files.ts';
import { flag, text, type OptionValues } from './options.ts';

/** Which certificates are accepted and shown. */
export const TLS_OPTIONS = {
  'tls-ca': text('FILE', 'trusted CA certificates (PEM)', null),
  'tls-cert': text('FILE', 'client certificate (PEM)', null),
  'tls-key': text('FILE', 'key of the client certificate (PEM)', null),
  'tls-insecure': flag("do not verify the server's certificate"),
};

/** For requests to the benchmarked servers and to metrics pages. */
export const PROXY_OPTIONS = {
  'no-proxy': flag('connect directly, without the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY set'),
};

export function tlsFiles(options: OptionValues<typeof TLS_OPTIONS>, serverName: string | null = null): TlsFiles {
  return {
    caFile: options['tls-ca'],
    certFile: options['tls-cert'],
    keyFile: options['tls-key'],
    serverName,
    insecure: options['tls-insecure'],
  };
}
