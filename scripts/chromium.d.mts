/**
 * The path of a Chromium or Chrome: CHROMIUM, on the PATH, or of macOS; with `install` it is installed if it is missing and may
 * be. Null if there is none.
 */
export function ensureChromium(options: { readonly install: boolean }): string | null;
