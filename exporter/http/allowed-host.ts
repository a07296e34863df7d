import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { RequestHandler } from 'express';

export interface AllowedHostOptions {
  /** The address that is listened on. */
  readonly host: string;
  /** Further names; one that begins with a dot allows every name below it, `*` every name. */
  readonly allowedHosts: readonly string[];
}

/** Says why a request is refused, in one line; null: it is not. */
export type HostCheck = (headers: IncomingHttpHeaders) => string | null;

/**
 * Keeps web pages of others out (DNS rebinding): a page whose name was made to point at this machine sends that name as
 * `Host`, or itself as `Origin`. Names that only this machine or its network gives out are allowed: loopback, and, when
 * more than loopback is listened on, addresses, names without a dot and this machine's own name. Others are refused
 * unless they are among `allowedHosts`. An `Origin` must be the very address that was asked.
 */
export function hostCheck(options: AllowedHostOptions): HostCheck {
  const fits = hostTest(options);
  return ({ host: authority = '', origin }) => {
    if (!fits(nameOf(authority))) {
      return `'${printable(authority)}' is not a name of this exporter; --allowed-hosts allows more`;
    }
    return origin === undefined || isSameOrigin(origin, authority) ? null : 'pages of other origins may not ask here';
  };
}

/** Answers with 403, in plain text, what the check refuses. */
export function allowedHost(check: HostCheck): RequestHandler {
  return (request, response, next) => {
    const refusal = check(request.headers);
    if (refusal === null) next();
    else response.status(403).type('text/plain').send(`${refusal}\n`);
  };
}

/** Tells whether a host name may be asked for. */
export function hostTest({ host, allowedHosts }: AllowedHostOptions): (name: string) => boolean {
  const given = allowedHosts.map((name) => name.toLowerCase());
  const beyondLoopback = !isLoopbackName(nameOf(host));
  const own = hostname().toLowerCase();
  return (name) =>
    isLoopbackName(name) ||
    given.some((each) => each === '*' || each === name || (each.startsWith('.') && name.endsWith(each))) ||
    (beyondLoopback && (isIP(name) !== 0 || name === own || (name !== '' && !name.includes('.'))));
}

/** Whether a name, or an address without brackets, stands for this machine alone. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The host in one form: without port, brackets and the dot at its end; empty when it is none. */
function nameOf(authority: string): string {
  // An address with colons may stand without brackets where no port follows.
  const url = URL.parse(`http://${isIP(authority) === 6 ? `[${authority}]` : authority}`);
  if (url === null || url.username !== '' || url.pathname !== '/') return '';
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function isSameOrigin(origin: string, authority: string): boolean {
  const [from, to] = [URL.parse(origin), URL.parse(`http://${authority}`)];
  // Behind a proxy that speaks TLS the page's scheme is https.
  return from !== null && to !== null && from.host === to.host && /^https?:$/.test(from.protocol);
}

/** What somebody sent, for a line of text. */
function printable(text: string): string {
  return text.slice(0, 100).replace(/[^\x21-\x7e]/g, '?');
}
