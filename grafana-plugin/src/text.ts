import { t as translate } from '@grafana/i18n';

const PLAIN_TEXT = { interpolation: { escapeValue: false } } as const;

/** A text with its values as they are: React escapes them, and i18next would write `&#x2F;` for a slash as well. */
export function t(id: string, defaultMessage: string, values: Record<string, unknown> = {}): string {
  return translate(id, defaultMessage, { ...PLAIN_TEXT, ...values });
}
