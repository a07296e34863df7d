import type { ErrorReason } from '../../../core/run/record.ts';
import type { Proxy } from '../../http-client/proxy.ts';

/** A server that has no HTTP/1.1, with what to do. */
export const HTTP2_PROBLEM = [
  'the server speaks HTTP/2 only, and llmbench HTTP/1.1',
  'Check the port of --url (gRPC uses HTTP/2), or enable HTTP/1.1 in the server or in a proxy before it',
] as const;

/**
 * One line for a server to which no connection could be opened, with what to do; null: there was one. `proxy`: the
 * connection was to it; null or absent: none.
 */
export function connectionFailure(
  origin: string,
  reason: ErrorReason,
  said: string,
  proxy: Pick<Proxy, 'name'> | null = null,
): string | null {
  if (proxy !== null && /^(?:\w+: )?Proxy (?:response|Authentication)/.test(said))
    return failureLine(
      proxy.name,
      `the proxy refuses the request (${said})`,
      'Set user name and password in its variable, or --no-proxy',
    );
  const line = (wrong: string, remedy: string): string =>
    proxy === null
      ? failureLine(origin, wrong, remedy)
      : failureLine(proxy.name, wrong, 'Check the proxy, or set --no-proxy');
  switch (reason) {
    case 'connect_refused':
      return line('connection refused', 'Check that the server runs, and host and port of --url');
    case 'connect_timeout':
      return line('connection timeout', 'Check that the host is reachable and the port is open');
    case 'dns':
      return line('unknown host name', 'Check the host of --url');
    case 'tls':
      if (said.includes('NO_APPLICATION_PROTOCOL')) return failureLine(origin, ...HTTP2_PROBLEM);
      if (said.includes('WRONG_VERSION_NUMBER'))
        return failureLine(origin, 'the server does not use TLS', 'Use http:// in --url');
      return failureLine(origin, `TLS failed (${said})`, tlsRemedy(said));
    default:
      return null;
  }
}

/** Statuses of a server that loads its model, and of a gateway in front of one that does not run yet. */
const NOT_READY: ReadonlySet<number | null> = new Set([502, 503, 504]);
const NO_CONNECTION: ReadonlySet<ErrorReason> = new Set(['connect_refused', 'connect_timeout', 'dns', 'reset']);

/** Whether a server may respond to the same request later. */
export const isNotReady = (reason: ErrorReason, status: number | null): boolean =>
  status === null ? NO_CONNECTION.has(reason) : NOT_READY.has(status);

export function failureLine(origin: string, wrong: string, remedy: string): string {
  return `${origin}: ${wrong.replace(/\.$/, '')}. ${remedy}`;
}

/** By the codes of Node and OpenSSL. */
function tlsRemedy(said: string): string {
  if (/SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(said))
    return 'Set --tls-ca to the certificates of the authority to trust';
  if (said.includes('ALTNAME')) return 'Check the host of --url; --tls-server-name sets the name of the certificate';
  return 'Check the certificate, or whether the port uses http';
}
