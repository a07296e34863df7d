import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadCourse } from '../../core/run/load.ts';
import { replaceWhenWritten } from '../files/durable-file.ts';
import { CliError } from './failure.ts';
import {
  checkPrometheusUrl,
  prometheusAccess,
  selectorOf,
  type LOAD_SOURCE_OPTIONS,
} from './options/prometheus-options.ts';
import type { OptionValues } from './options/options.ts';

export type RecordedPlan = LoadCourse & { readonly notes: readonly string[] };

/** The load that the options name, read from its Prometheus. Throws an `ExpectedError`. */
export async function recordedPlan(
  options: OptionValues<typeof LOAD_SOURCE_OPTIONS>,
  signal: AbortSignal,
): Promise<RecordedPlan> {
  const { 'load-from-prometheus': url, match, window, compress, scale } = options;
  if (url === null || match === null || window === null)
    throw new CliError('--load-from-prometheus requires --match and --window');
  checkPrometheusUrl('--load-from-prometheus', url);
  const { readRecordedLoad } = await import('../imports/prometheus/recorded-load.ts');
  return readRecordedLoad(
    { url, access: await prometheusAccess(options), selector: selectorOf(match), ...window, signal },
    { compress: compress ?? 1, scale: scale ?? 1 },
  );
}

/**
 * Writes the plan of a run into the cache and returns its path; what its reader must know goes to standard error. Throws a
 * `CliError`, and a `ConfigurationError` for a load of which no plan can be made.
 */
export async function keptPlan(
  options: OptionValues<typeof LOAD_SOURCE_OPTIONS>,
  seed: number,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const load = await recordedPlan(options, new AbortController().signal);
  const { planLines } = await import('../load/datasets/plan-file.ts');
  const { hubOptions } = await import('../load/tokenizers/tokenizer.ts');
  const lines = [...planLines(load, seed)];
  const folder = join(hubOptions(environment).ownCache, 'plans');
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line);
  const path = join(folder, `${hash.digest('hex').slice(0, 16)}.jsonl`);
  await mkdir(folder, { recursive: true });
  await replaceWhenWritten(path, (temporary) => writeFile(temporary, lines));
  process.stderr.write([`plan: ${path}`, ...load.notes.map((note) => `  ${note}`), ''].join('\n'));
  return path;
}
