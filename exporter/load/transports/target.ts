import { hasMistypedScheme } from '../../../core/text/mistyped-scheme.ts';

/** Where requests go. */
export interface RequestTarget {
  /** Scheme, host and port: all of a URL that may be shown or stored. */
  readonly origin: string;
  /** Path of the requests; it may contain a query and is not shown. */
  readonly path: string;
  /** Path of the list of models. */
  readonly modelsPath: string;
}

/**
 * Reads `--url`: an origin (`http://host:8000`, also without scheme), a base (`…/v1`), or the full URL of the endpoint.
 * Throws an Error whose message names what is wrong and contains no user info and no query.
 */
export function parseTarget(text: string, endpointPath: string): RequestTarget {
  const url = parseUrl(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`the URL's scheme is ${url.protocol.slice(0, -1)}: only http and https are supported`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the URL contains a user name or password: use --api-key-env or --api-key-file instead');
  }
  const given = url.pathname.replace(/\/+$/, '');
  const base = given.endsWith(endpointPath) ? given.slice(0, -endpointPath.length) : given.replace(/\/v1$/, '');
  return {
    origin: url.origin,
    path: `${base}${endpointPath}${url.search}`,
    modelsPath: `${base}/v1/models${url.search}`,
  };
}

function parseUrl(text: string): URL {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text}`);
  if (url === null || url.hostname === '' || (!hasScheme && hasMistypedScheme(text)))
    throw new Error('not a URL; example: http://127.0.0.1:8000');
  return url;
}
