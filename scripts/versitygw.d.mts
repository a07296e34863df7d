/** The path of versitygw, the S3 server of the tests; with `install` it is built if it is missing. Null if there is none. */
export function ensureVersitygw(options: { readonly install: boolean }): string | null;
