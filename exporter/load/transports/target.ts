import type { Proxy } from '../../http-client/proxy.ts';
import { hasMistypedScheme } from '../../http-client/public-url.ts';

/** Where requests go. */
export interface RequestTarget {
  /** Scheme, host and port: all of a URL that may be shown or stored. */
  readonly origin: string;
  /** Path of the requests; it may contain a query and is not shown. */
  readonly path: string;
  /** Path of the list of models, with the same query. */
  readonly modelsPath: string;
  /** What precedes the API in the path, such as the prefix of an ingress; empty without one. */
  readonly prefix: string;
  /** Between this machine and the server; absent: none. */
  readonly proxy?: Proxy;
}

/** The API that the requests use. */
export interface TargetApi {
  /** Value of `--endpoint-type`. */
  readonly type: string;
  /** Its path on a server that has nothing else. */
  readonly path: string;
}

/** Names of endpoints at the end of a path, with the types that have them; longer names first. */
const ENDPOINT_NAMES: readonly (readonly [name: string, types: readonly string[]])[] = [
  ['/chat/completions', ['chat']],
  ['/completions', ['completions']],
  ['/responses', ['responses']],
  ['/messages', ['messages']],
  ['/embeddings', ['embeddings']],
  ['/pooling', ['pooling']],
  ['/rerank', ['rerank', 'tei_rerank']],
  ['/ranking', ['nim_ranking']],
  ['/score', ['score']],
  ['/generate_stream', ['triton_generate']],
  ['/infer', ['kserve_infer']],
  ['/generate', ['sglang_generate', 'triton_generate']],
  // Databricks, SageMaker and vLLM: the body decides.
  ['/invocations', ['chat', 'completions', 'embeddings']],
];

/**
 * Paths below which OpenAI's endpoints are without a further `/v1`: a version (`/v1`, `/api/v3`), Gemini's
 * `/v1beta/openai`, a deployment of Azure, Databricks' `/serving-endpoints`.
 */
const API_ROOT = /\/(?:v\d[a-z0-9]*(?:\/openai)?|deployments\/[^/]+|serving-endpoints)$/;
const VERSION = /\/v\d[a-z0-9]*(?:\/openai)?$/;

/**
 * Reads `--url`: an origin (`http://host:8000`, also without scheme), a base (`…/v1`), or the full URL of an endpoint,
 * whose path is used as it is. `endpointPath`: the user's path of the endpoint below the URL; null: the API's. Throws an
 * Error whose message names what is wrong and contains no user info and no query.
 */
export function parseTarget(text: string, api: TargetApi, endpointPath: string | null = null): RequestTarget {
  const url = parseUrl(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`the URL's scheme is ${url.protocol.slice(0, -1)}: only http and https are supported`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the URL contains a user name or password: use --api-key-env or --api-key-file instead');
  }
  const given = url.pathname.replace(/\/+$/, '');
  const { path, root } = endpointPath === null ? pathOf(given, api) : pathBelow(given, api, endpointPath);
  const query = [...new Set([url.search, queryOf(endpointPath ?? '')])].filter((part) => part !== '');
  const search = query.map((part, i) => (i === 0 ? part : part.replace('?', '&'))).join('');
  return {
    origin: url.origin,
    path: `${path}${search}`,
    modelsPath: `${root}/models${search}`,
    prefix: root.replace(VERSION, ''),
  };
}

interface PathParts {
  readonly path: string;
  /** The path of the API, which its list of models is below. */
  readonly root: string;
}

/** The path of the requests for a URL with this path, without a slash at its end. */
function pathOf(given: string, api: TargetApi): PathParts {
  const name = ownName(given, api);
  if (name !== null) return { path: given, root: rootBefore(name, given) };
  if (!api.path.startsWith('/v1/')) {
    const base = given.replace(/\/v1$/, '');
    return { path: `${base}${api.path}`, root: `${base}/v1` };
  }
  const root = rootAt(given);
  return { path: `${root}${api.path.slice('/v1'.length)}`, root };
}

/** The user's path below the URL's; a version that both have is not repeated. */
function pathBelow(given: string, api: TargetApi, endpointPath: string): PathParts {
  const [below = ''] = endpointPath.split('?');
  const [version = ''] = VERSION.exec(given) ?? [];
  const base = version !== '' && below.startsWith(`${version}/`) ? given.slice(0, -version.length) : given;
  const path = `${base}${below}`;
  const bare = path.replace(/\/+$/, '');
  const name = [api.path, ...ENDPOINT_NAMES.map(([each]) => each)].find((each) => bare.endsWith(each));
  return { path, root: name === undefined ? rootAt(base) : rootBefore(name, bare) };
}

/** The name of the endpoint that a path ends in; null: it is a base. Throws an Error when it is that of another type. */
function ownName(given: string, { type, path }: TargetApi): string | null {
  if (path !== '' && given.endsWith(path)) return path;
  const found = ENDPOINT_NAMES.find(([each]) => given.endsWith(each));
  if (found === undefined || type === 'template') return null;
  const [name, types] = found;
  const isTriton = type === 'triton_generate' && types.includes(type);
  if (types.includes(type) && (!isTriton || path.endsWith(name))) return name;
  const remedy = !isTriton
    ? `set --endpoint-type ${types[0]}`
    : name === '/generate'
      ? 'set --no-streaming'
      : 'remove --no-streaming';
  throw new Error(
    `its path ends in ${name}, which is no endpoint of the type ${type}: ${remedy}, ` +
      `or use --endpoint-path ${path} for an endpoint below it`,
  );
}

const rootAt = (path: string): string => (API_ROOT.test(path) ? path : `${path}/v1`);

/** OpenAI's endpoints are below its API, the others beside it. */
function rootBefore(name: string, path: string): string {
  const base = path.slice(0, -name.length);
  return /^\/(?:chat\/completions|completions|responses|messages|embeddings|rerank|ranking)$/.test(name)
    ? base
    : `${base}/v1`;
}

const queryOf = (path: string): string => (path.includes('?') ? path.slice(path.indexOf('?')) : '');

function parseUrl(text: string): URL {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text}`);
  if (url === null || url.hostname === '' || (!hasScheme && hasMistypedScheme(text)))
    throw new Error('not a URL; example: http://127.0.0.1:8000');
  return url;
}
