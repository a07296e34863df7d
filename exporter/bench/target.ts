/** Where requests go. */
export interface Target {
  /** Scheme, host and port: all of a URL that may be shown or stored. */
  readonly origin: string;
  /** Of the requests; it may hold a query and is not shown. */
  readonly path: string;
  /** Of the list of models. */
  readonly modelsPath: string;
}

/**
 * Reads `--url`: an origin (`http://host:8000`, also without scheme), a base (`…/v1`), or the whole address of the
 * endpoint. Throws an Error whose message names what is wrong and repeats no user info and no query.
 */
export function parseTarget(text: string, endpointPath: string): Target {
  const url = parseUrl(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`the URL's scheme is ${url.protocol.slice(0, -1)}: only http and https are supported`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the URL holds a user name or password: give the key as an API key instead');
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
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === '') throw new Error('not a URL; an example: http://127.0.0.1:8000');
  return url;
}
