import { publicOrigin } from '../store/public-url.ts';

/** Scheme, host and port of an address as a tool writes it, with or without `http://`; null when it is none. */
export function publicOriginOrNull(url: string): string | null {
  try {
    return publicOrigin(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
