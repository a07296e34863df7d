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
