import { ownValue } from '../../core/text/nearest-names.ts';
import { ExpectedError } from '../errors/expected-error.ts';
import { createServer } from '../http-client/node-http.ts';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';

export interface ListenAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface Listening {
  /** The port in use. */
  readonly port: number;
  /** Scheme, host and port. */
  readonly url: string;
  /** Stops listening; ends each connection after its current response, and all of them after `grace_ms` (default 0). */
  close(grace_ms?: number): Promise<void>;
}

/** TLS of a server. */
export interface ListenTls {
  /** Whether a certificate is requested from clients. */
  readonly requestsCertificate: boolean;
  /** Certificate, key and settings for the connections from now on; called for each of them. */
  readonly context: () => SecureContextOptions;
  /** Whether a client that has completed the handshake is let in. */
  readonly isAllowed: (socket: TLSSocket) => boolean;
}

/** The address cannot be listened on; the message names it and the remedy. */
export class ListenError extends ExpectedError {
  override readonly name = 'ListenError';

  constructor(message: string, options?: ErrorOptions) {
    super('refused', message, options);
  }
}

/** Limits on the time and sockets of one client, in milliseconds. */
export interface ListenLimits {
  /** Until the last header has arrived. */
  readonly headers_ms: number;
  /** Until the whole request has arrived. */
  readonly request_ms: number;
  /** Without a byte in either direction. */
  readonly idle_ms: number;
}

const LIMITS: ListenLimits = { headers_ms: 10_000, request_ms: 30_000, idle_ms: 120_000 };
/** Interval at which connections are checked for exceeded limits. */
const LOOKS_PER_LIMIT = 4;
/** Sufficient for all scrapers, well below the limits of a process. */
const MAX_CONNECTIONS = 10_000;

/** Serves `app`, over HTTPS if `tls` is given. Rejects with a `ListenError` if the address is in use, not allowed or not of this machine. */
export async function listen(
  app: RequestListener,
  { host, port }: ListenAddress,
  { headers_ms, request_ms, idle_ms }: ListenLimits = LIMITS,
  tls: ListenTls | null = null,
): Promise<Listening> {
  const limits: ServerOptions = {
    headersTimeout: headers_ms,
    requestTimeout: request_ms,
    connectionsCheckingInterval: Math.ceil(headers_ms / LOOKS_PER_LIMIT),
  };
  const server = tls === null ? createServer(limits, app) : tlsServer(limits, app, tls);
  server.setTimeout(idle_ms);
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new ListenError(`${host} is not an address with a port`);
  const scheme = tls === null ? 'http' : 'https';
  return {
    port: bound.port,
    url: `${scheme}://${hostInUrl(host)}:${bound.port}`,
    close: (grace_ms = 0) => close(server, grace_ms),
  };
}

function tlsServer(limits: ServerOptions, app: RequestListener, tls: ListenTls): Server {
  let context = tls.context();
  // Whether a certificate is good enough is decided after the handshake, by rules that can change while the server runs.
  const server = createTlsServer(
    {
      ...limits,
      ...context,
      requestCert: tls.requestsCertificate,
      rejectUnauthorized: false,
      handshakeTimeout: limits.headersTimeout,
    },
    app,
  );
  server.prependListener('connection', () => {
    const now = tls.context();
    if (now === context) return;
    context = now;
    server.setSecureContext(context);
  });
  // Before the listener that reads requests of the connection.
  server.prependListener('secureConnection', (socket) => {
    if (!tls.isAllowed(socket)) socket.destroy();
  });
  return server;
}

function close(server: Server, grace_ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const force = setTimeout(() => server.closeAllConnections(), grace_ms);
    // Node ends idle connections at once, and the others after their response.
    server.close((error) => {
      clearTimeout(force);
      if (error === undefined) resolve();
      else reject(error);
    });
    if (grace_ms === 0) server.closeAllConnections();
  });
}

/** Describes the failure of a server's `listen`, with the address and the remedy. */
export function listenError(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const address = `${hostInUrl(host)}:${port}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${address} is in use: stop the program that listens there or choose another port (0 selects a free one)`,
    EACCES: `not allowed to listen on ${address}: choose a port from 1024 up`,
    EADDRNOTAVAIL: `cannot listen on ${address}: ${host} is not an address of this machine`,
    ENOTFOUND: `cannot listen on ${address}: host ${host} not found`,
  };
  const message = ownValue(reasons, error.code ?? '') ?? `cannot listen on ${address}: ${error.message}`;
  return new ListenError(message, { cause: error });
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
