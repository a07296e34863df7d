/** The values in the query of a URL, as written and decoded: each may be a credential. Empty for what is no URL. */
export function queryValues(url: string): readonly string[] {
  const { search, searchParams } = URL.parse(url) ?? URL.parse(`http://${url}`) ?? new URL('http://h');
  const written = search.slice(1).split('&');
  return [...new Set([...searchParams.values(), ...written.map((pair) => pair.slice(pair.indexOf('=') + 1))])];
}

/** Scheme, host and port only. Throws a `TypeError` when it is not an HTTP URL. */
export function publicOrigin(url: string): string {
  const { origin, protocol } = new URL(url);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`not an HTTP URL: its scheme is ${protocol}`);
  return origin;
}

/**
 * The URL without user info, query and fragment, which may contain secrets. Throws a `TypeError` like `publicOrigin`.
 */
export function publicUrl(url: string): string {
  return `${publicOrigin(url)}${new URL(url).pathname}`;
}

/**
 * Whether an address that has no scheme begins as if it should have one. URL parsers would take `ht!tp://x` for a host named
 * ht!tp, and `http:/x` or `http//x` for one named http.
 */
export const hasMistypedScheme = (address: string): boolean => /^([^/?#]*:\/\/|https?(:\/|\/\/))/i.test(address);
