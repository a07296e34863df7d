/** For texts with values in them: React escapes them, i18next must not escape them as well ("> 2 s", "tokens/s"). */
export const PLAIN_TEXT = { interpolation: { escapeValue: false } } as const;
