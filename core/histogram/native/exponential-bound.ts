export const MIN_SCHEMA = -4;
export const MAX_SCHEMA = 8;

/**
 * Bounds between 0.5 and 1 by schema. Computed as the table that Prometheus and its client libraries share was: each
 * second bound is that of the schema before, the others are the one before them times the growth factor. Theirs of schema 1
 * is √2 rounded down; the observations were sorted by it, so it is kept.
 */
const FRACTIONS: readonly Float64Array[] = fractions();

function fractions(): Float64Array[] {
  const tables: Float64Array[] = [];
  for (let schema = 0; schema <= MAX_SCHEMA; schema++) {
    const factor = schema === 1 ? 1.414213562373095 : 2 ** (2 ** -schema);
    const table = new Float64Array(2 ** schema).fill(0.5);
    for (let i = 1; i < table.length; i++)
      table[i] = i % 2 === 0 ? (tables[schema - 1]?.[i / 2] ?? NaN) : (table[i - 1] as number) * factor;
    tables.push(table);
  }
  return tables;
}

/**
 * Upper bound of the positive bucket of an index in an exponential schema, to the last digit as `getBoundExponential` of
 * Prometheus (model/histogram/generic.go): the last bucket of finite numbers ends at the largest of them, the next one
 * holds +Infinity.
 */
export function exponentialBound(index: number, schema: number): number {
  const perPower = 2 ** schema;
  const exponent = Math.floor(index / perPower);
  if (exponent === 1024 && index === 1024 * perPower) return Number.MAX_VALUE;
  if (schema < 0) return 2 ** (index / perPower);
  const fraction = FRACTIONS[schema]?.[index - exponent * perPower] ?? NaN;
  return fraction * 2 * 2 ** exponent;
}

/** The bucket of a coarser schema that holds the bucket of this index in a finer one. */
export function coarserIndex(index: number, from: number, to: number): number {
  return Math.ceil(index / 2 ** (from - to));
}
