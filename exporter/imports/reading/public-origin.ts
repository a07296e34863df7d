import { publicOrigin } from '../../http-client/public-url.ts';

/** Scheme, host and port of an address as a tool writes it, with or without `http://`; null when it is none. */
export function publicOriginOrNull(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  const isHttp = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  return isHttp ? publicOrigin(address) : null;
}
