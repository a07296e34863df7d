import type { ComparisonKey } from '../../../core/run/run.ts';
import { fingerprint } from '../fingerprint.ts';
import type { JsonObject } from './migrate.ts';

/**
 * Version 2 of run.json knows imported runs, tags, all servers, the client's ways and the ramp of the prefill limit; before
 * it none of that was told.
 */
export function runFrom1To2(run: JsonObject): JsonObject {
  const comparison_key = changed(run.comparison_key, ({ load, warmup, ...key }) => ({
    ...key,
    load: withRamp(load),
    warmup: changed(warmup, (before) => ({ ...before, load: withRamp(before.load) })),
  }));
  const target = changed(run.target, (told) => ({ ...told, origins: null }));
  const present = { comparison_key, fingerprint: fingerprintOf(comparison_key) ?? run.fingerprint, target };
  return { ...run, ...present, schema_version: 2, source: null, client: null, tags: [] };
}

/** A key with a new member has another fingerprint: without it an old run would never match a new one. */
function fingerprintOf(key: unknown): string | null {
  return typeof key === 'object' && key !== null ? fingerprint(key as ComparisonKey) : null;
}

const withRamp = (load: unknown): unknown =>
  changed(load, (told) => ({ ...told, prefill_concurrency_ramp_seconds: null }));

/** What is no object stays as it is: it is null, or whoever reads the file finds it damaged. */
function changed(value: unknown, change: (object: JsonObject) => JsonObject): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? change(value as JsonObject) : value;
}
