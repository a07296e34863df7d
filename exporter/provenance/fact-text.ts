import { withoutSecrets } from '../../core/run/secret-fields.ts';
import { messageExcerpt } from '../errors/message-excerpt.ts';

/**
 * A text as it may be stored: one line of at most 200 characters without credentials, user info and queries of URLs.
 * Null: empty.
 */
export function factText(text: unknown, secrets: readonly string[] = []): string | null {
  if (typeof text !== 'string') return null;
  const shown = withoutSecrets(messageExcerpt(text, secrets));
  return shown === '' ? null : shown;
}

/** A version as programs write it: `0.11.1rc2+cu129`. Null: something else. */
export function versionText(version: unknown): string | null {
  return typeof version === 'string' && /^[0-9A-Za-z][\w.+~!-]{0,63}$/.test(version) ? version : null;
}
