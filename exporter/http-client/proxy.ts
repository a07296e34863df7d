import { BlockList, isIP } from 'node:net';
import type { Dispatcher, ProxyAgent } from 'undici';
import { ConfigurationError } from '../errors/expected-error.ts';
import type { TlsSettings } from './tls-files.ts';
import { proxyAgentClass } from './undici.ts';

/** An HTTP proxy between this machine and a server. */
export interface Proxy {
  /** With its credentials: never shown, never stored. */
  readonly url: string;
  /** Scheme, host and port, and the variable that names it: `http://proxy:3128 (HTTP_PROXY)`. */
  readonly name: string;
  /** Its user name and password, as written and decoded. */
  readonly secrets: readonly string[];
}

/** The proxy for requests to a URL; null: none. */
export type Proxies = (url: string) => Proxy | null;

export const NO_PROXIES: Proxies = () => null;

/**
 * The proxies that the environment names, as curl reads it: `http_proxy` and `https_proxy` by the scheme of the URL, and
 * `no_proxy` with hosts, domains, addresses and networks that need none; each also in capitals. Throws a
 * `ConfigurationError` for an address that cannot be a proxy, without its value.
 */
export function environmentProxies(environment: NodeJS.ProcessEnv): Proxies {
  const proxies = new Map(['http', 'https'].map((scheme) => [`${scheme}:`, proxyOf(`${scheme}_proxy`, environment)]));
  if ([...proxies.values()].every((proxy) => proxy === null)) return NO_PROXIES;
  const excepted = exceptions(environment['no_proxy'] ?? environment['NO_PROXY'] ?? '');
  return (url) => {
    const parsed = new URL(url);
    const proxy = proxies.get(parsed.protocol) ?? null;
    return proxy === null || excepted(parsed) ? null : proxy;
  };
}

function proxyOf(variable: string, environment: NodeJS.ProcessEnv): Proxy | null {
  const name = [variable, variable.toUpperCase()].find((each) => (environment[each] ?? '') !== '');
  if (name === undefined) return null;
  const text = environment[name] ?? '';
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new ConfigurationError(
      `${name} is not the URL of an HTTP proxy, such as http://proxy:3128; --no-proxy connects directly`,
    );
  const { username, password, origin, href } = url;
  const secrets = [username, password]
    .filter((word) => word !== '')
    .flatMap((word) => [word, decodeURIComponent(word)]);
  return { url: href, name: `${origin} (${name})`, secrets: [...new Set(secrets)] };
}

const DEFAULT_PORTS = new Map(Object.entries({ 'http:': '80', 'https:': '443' }));

/** Which URLs a `no_proxy` list names: `*`, `host`, `.domain`, `host:port`, an address, `10.0.0.0/8`. */
function exceptions(list: string): (url: URL) => boolean {
  const entries = list.split(/[,\s]+/).filter((entry) => entry !== '');
  const networks = new BlockList();
  const names: { readonly name: string; readonly port: string | null }[] = [];
  for (const entry of entries) {
    const [, network = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
    const family = isIP(network);
    if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
      networks.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
      continue;
    }
    // More than one colon is an IPv6 address.
    const [, host = entry, port = null] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    names.push({ name: bareHost(host.replace(/^\*?\./, '')), port });
  }
  return ({ hostname, port, protocol }) => {
    const host = bareHost(hostname);
    const family = isIP(host);
    if (family !== 0 && networks.check(host, family === 4 ? 'ipv4' : 'ipv6')) return true;
    return names.some(
      (entry) =>
        (entry.name === '*' || host === entry.name || host.endsWith(`.${entry.name}`)) &&
        (entry.port === null || entry.port === (port || DEFAULT_PORTS.get(protocol))),
    );
  };
}

const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

/** How requests through a proxy are sent. */
export interface ProxyAgentOptions {
  readonly connectTimeoutSeconds: number;
  /** Of the server behind the proxy. */
  readonly tls: TlsSettings;
  /** Of the server: its certificate is verified by this name. */
  readonly hostname: string;
  readonly client: { readonly pipelining: number; readonly headersTimeout: number; readonly bodyTimeout: number };
  /** Replaces the clients that the agent makes: for observing their connections. */
  readonly factory?: (origin: string | URL, options: object) => Dispatcher;
}

/** Requests for http in the form for proxies, and for https through a tunnel, as curl sends them. */
export function proxyAgent(proxy: Proxy, options: ProxyAgentOptions): ProxyAgent {
  const { connectTimeoutSeconds, tls, hostname, client, factory } = options;
  const { ca, rejectUnauthorized } = tls;
  const Agent = proxyAgentClass();
  return new Agent({
    ...client,
    uri: proxy.url,
    proxyTunnel: false,
    connectTimeout: connectTimeoutSeconds * 1000,
    requestTls: { servername: isIP(bareHost(hostname)) === 0 ? hostname : '', ...tls, allowH2: false },
    proxyTls: {
      ...(ca === undefined ? {} : { ca }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      allowH2: false,
    },
    ...(factory === undefined ? {} : { factory }),
  });
}
