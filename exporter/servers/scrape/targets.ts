import { hasMistypedScheme, publicUrl } from '../../http-client/public-url.ts';
import { environmentProxies, NO_PROXIES, type Proxies } from '../../http-client/proxy.ts';
import { secretVariable, readTlsFiles, type TlsFiles, type TlsSettings } from '../../http-client/tls-files.ts';

/** Where a system serves its metrics by default. */
interface KnownEndpoint {
  /** The first is the default for a name without a port. */
  readonly ports: readonly number[];
  readonly path: string;
}

/**
 * Default ports and paths by the name that `--server-metrics name=host` takes. Dynamo: the frontend, then the component
 * ports of its workers (`DYN_SYSTEM_PORT`). The DCGM exporter of Dynamo's observability stack is on 9401. TensorRT-LLM serves
 * JSON on `/metrics`; its Prometheus page has another path.
 */
export const KNOWN_ENDPOINTS: Readonly<Record<string, KnownEndpoint>> = {
  dynamo: { ports: [8000, 8081, 8082, 8083, 8084], path: '/metrics' },
  vllm: { ports: [8000], path: '/metrics' },
  sglang: { ports: [30_000], path: '/metrics' },
  smg: { ports: [29_000], path: '/metrics' },
  trtllm: { ports: [8000], path: '/prometheus/metrics' },
  triton: { ports: [8002], path: '/metrics' },
  kvbm: { ports: [6880], path: '/metrics' },
  nixl: { ports: [9090, 19_090], path: '/metrics' },
  lmcache: { ports: [8080, 9090, 9300], path: '/metrics' },
  tgi: { ports: [3000], path: '/metrics' },
  nim: { ports: [8000], path: '/v1/metrics' },
  dcgm: { ports: [9400, 9401], path: '/metrics' },
  'amd-gpu': { ports: [5000], path: '/metrics' },
};

/** The names, for messages. */
const KNOWN_NAMES: readonly string[] = Object.keys(KNOWN_ENDPOINTS);

/** A URL that serves metrics. */
export interface Target {
  /** The requested URL, with user info and query: never displayed. */
  readonly url: string;
  /** The same without user info and query: the target's name in files, metrics and messages. */
  readonly name: string;
  /** The system as named by the user (`triton=host`); null: recognized from the page. */
  readonly system: string | null;
  /** Absent: nothing is sent, and the default authorities are trusted. */
  readonly access?: PageAccess;
}

/** Matches only the name of a system before an equals sign; a host with a port or a path does not match. */
const NAMED = /^([a-z][a-z0-9-]*)=(.*)$/s;

/**
 * Reads one value of `--server-metrics`: a URL or `host:port`, optionally after a system's name (`triton=host`), which
 * brings the port and path that it uses by default. `http` is assumed. The default path is `/metrics`; a given path is
 * kept without trailing slashes.
 * @throws Error with a message of one line that omits possible secrets in the value
 */
export function parseTarget(given: string): Target {
  const named = NAMED.exec(given.trim());
  const [system, address] = named === null ? [null, given.trim()] : [named[1] ?? '', (named[2] ?? '').trim()];
  const known = system !== null && Object.hasOwn(KNOWN_ENDPOINTS, system) ? KNOWN_ENDPOINTS[system] : undefined;
  if (system !== null && known === undefined) {
    throw new Error(`'${system}' is not a supported system: use one of ${KNOWN_NAMES.join(', ')}`);
  }
  const url = parseAddress(address);
  if (known !== undefined && !hasPort(address)) url.port = String(known.ports[0] ?? '');
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path === '' ? (known?.path ?? '/metrics') : path;
  url.hash = '';
  return { url: url.href, name: publicUrl(url.href), system };
}

/** The metrics page of the inference server at an origin. */
export function targetOfServer(origin: string, access: PageAccess): Target {
  return { ...parseTarget(new URL('/metrics', origin).href), access };
}

/** In the given order, each address once; the entry that names a system is preferred. */
export function withoutRepeats(targets: readonly Target[]): Target[] {
  const byUrl = new Map<string, Target>();
  for (const target of targets) {
    const first = byUrl.get(target.url);
    if (first === undefined || first.system === null) byUrl.set(target.url, target);
  }
  return [...byUrl.values()];
}

function parseAddress(address: string): URL {
  if (address === '') throw new Error('an address is missing: for example http://localhost:8000/metrics');
  if (/[\s\\]/.test(address)) throw new Error('an address must not contain blanks or backslashes');
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new Error(`the scheme must be http or https, not ${scheme}`);
  }
  if (scheme === undefined && hasMistypedScheme(address)) throw new Error('it begins with an invalid scheme');
  try {
    return new URL(scheme === undefined ? `http://${address}` : address);
  } catch {
    throw new Error('expected an address such as http://localhost:8000/metrics or localhost:8000');
  }
}

/** `URL` drops a default port (80), so the text is checked for one. */
function hasPort(address: string): boolean {
  const authority = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split(/[/?#]/, 1)[0] ?? '';
  return /:\d+$/.test(authority);
}

/**
 * What is sent with each request for a metrics page, and which certificates are accepted. May contain secrets: never
 * stored, never displayed.
 */
export interface PageAccess {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  /** Absent: none. */
  readonly proxies?: Proxies;
}

/** Of pages that the user did not name: nothing is sent to them. */
export const OPEN_ACCESS: PageAccess = { headers: {}, tls: {} };

/** The credentials of metrics pages, as the user configured them. */
export interface PageCredentials {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The environment variable with the bearer token; null: none. */
  readonly bearerVariable: string | null;
  /** Ignores the proxies of the environment; absent: they are used. */
  readonly direct?: boolean;
}

export const NO_CREDENTIALS: PageCredentials = { headers: {}, bearerVariable: null };

/**
 * The same with what the files and the environment contain. `bearerOption`: the option that names the variable. Throws a
 * `ConfigurationError`.
 */
export async function readPageAccess(
  { headers, bearerVariable, direct = false }: PageCredentials,
  tls: TlsFiles,
  environment: NodeJS.ProcessEnv,
  bearerOption = '--server-metrics-bearer-env',
): Promise<PageAccess> {
  const bearer =
    bearerVariable === null
      ? {}
      : { authorization: `Bearer ${secretVariable(bearerVariable, environment, bearerOption)}` };
  const proxies = direct ? NO_PROXIES : environmentProxies(environment);
  const access = { headers: { ...headers, ...bearer }, tls: await readTlsFiles(tls) };
  return proxies === NO_PROXIES ? access : { ...access, proxies };
}
