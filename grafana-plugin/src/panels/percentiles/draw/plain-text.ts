/** For texts with values in them: React escapes them, i18next need not do it before ("> 2 s", "tokens/s"). */
export const PLAIN_TEXT = { interpolation: { escapeValue: false } } as const;
