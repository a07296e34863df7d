import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import type { RequestHandler } from 'express';
import { Problem } from './problem.ts';

export interface AllowedHostOptions {
  /** The listen address. */
  readonly host: string;
  /** Further names; a leading dot allows every subdomain, `*` allows every name. */
  readonly allowedHosts: readonly string[];
}

/** The parts of a request that name its host. */
export interface HostedRequest {
  readonly headers: Pick<IncomingHttpHeaders, 'host' | 'origin'>;
  /** Names and values, alternating, as received. */
  readonly rawHeaders: readonly string[];
  readonly url?: string | undefined;
}

/** Why a request is rejected, in one line; null if it is accepted. */
export type HostCheck = (request: HostedRequest) => string | null;

/**
 * Protects against DNS rebinding: a web page whose name was pointed at this machine sends that name as `Host`, or
 * itself as `Origin`. Names that only this machine or its network assigns are allowed: loopback and, if more than
 * loopback is listened on, addresses, names without a dot and this machine's own name. Other names are rejected unless
 * they are among `allowedHosts`. An `Origin` must equal the requested address.
 */
export function hostCheck(options: AllowedHostOptions): HostCheck {
  const fits = hostTest(options);
  return ({ headers: { host: authority = '', origin }, rawHeaders, url = '/' }) => {
    if (rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
      return 'the request has more than one Host header';
    }
    // An absolute URL in the request line counts instead of Host (RFC 9112 §3.2.2): only proxies are sent such requests.
    if (!url.startsWith('/') && url !== '*') return 'the request line must have a path, not an absolute URL';
    if (!fits(nameOf(authority))) {
      return `'${printable(authority)}' is not a host name of this exporter; add it with --allowed-hosts`;
    }
    return origin === undefined || isSameOrigin(origin, authority)
      ? null
      : 'requests from pages of other origins are not allowed';
  };
}

/** Throws a `Problem` 403 for rejected requests. */
export function allowedHost(check: HostCheck): RequestHandler {
  return (request, response, next) => {
    response.set('X-Content-Type-Options', 'nosniff');
    const refusal = check({ headers: request.headers, rawHeaders: request.rawHeaders, url: request.originalUrl });
    if (refusal !== null) throw new Problem(403, refusal);
    next();
  };
}

/** Whether a host name is allowed. */
export function hostTest({ host, allowedHosts }: AllowedHostOptions): (name: string) => boolean {
  const given = allowedHosts.map((name) => name.toLowerCase());
  const beyondLoopback = !isLoopbackName(nameOf(host));
  const own = hostname().toLowerCase();
  return (name) =>
    isLoopbackName(name) ||
    given.some((each) => each === '*' || each === name || (each.startsWith('.') && name.endsWith(each))) ||
    (beyondLoopback && (isIP(name) !== 0 || name === own || (name !== '' && !name.includes('.'))));
}

/** Whether a name, or an address without brackets, is this machine's loopback. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The normalized host: without port, brackets and trailing dot; empty if there is none. */
function nameOf(authority: string): string {
  // An IPv6 address may come without brackets if no port follows.
  const url = URL.parse(`http://${isIP(authority) === 6 ? `[${authority}]` : authority}`);
  if (url === null || url.username !== '' || url.pathname !== '/') return '';
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function isSameOrigin(origin: string, authority: string): boolean {
  const [from, to] = [URL.parse(origin), URL.parse(`http://${authority}`)];
  // Behind a TLS proxy the page's scheme is https.
  return from !== null && to !== null && from.host === to.host && /^https?:$/.test(from.protocol);
}

/** Client input, sanitized for one line of text. */
function printable(text: string): string {
  return text.slice(0, 100).replace(/[^\x21-\x7e]/g, '?');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether an address, as reported by a socket, belongs to this machine. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return LOOPBACK.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
}
