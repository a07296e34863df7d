/** A JSON value. Integers beyond 2^53 are strings, instants RFC 3339. */
export type QueryValue =
  string | number | boolean | null | readonly QueryValue[] | { readonly [key: string]: QueryValue };

/** Converts a value of the database to JSON. */
export function queryValue(value: unknown): QueryValue {
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case 'number':
      // JSON has no NaN and no infinity.
      return Number.isFinite(value) ? value : String(value);
    case 'string':
    case 'boolean':
      return value;
    case 'object':
      return objectValue(value);
    default:
      return null;
  }
}

function objectValue(value: object | null): QueryValue {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(queryValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, queryValue(member)]));
}
