/** The path of the program for these sources; null, with a reason on stderr, if it is missing. */
export function ensureChartProgram(options: { readonly install: boolean }): string | null;
