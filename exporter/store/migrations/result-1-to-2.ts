import type { JsonObject } from './migrate.ts';

/**
 * Version 2 of result.json has null for a count of requests that is not known. Version 1 had 0 there, which cannot be told
 * from a true 0 any more: the notes of such a run in run.json say which counts its file did not tell.
 */
export function resultFrom1To2(result: JsonObject): JsonObject {
  return { ...result, schema_version: 2 };
}
