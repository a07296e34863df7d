import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { StoredObject } from '../migrations/migrate.ts';

/** What makes a run.json unreadable, in a few words; null if every reader can rely on its structure. */
export function runProblem(run: StoredObject): string | null {
  if (!isListOf(run['phases'], isObject)) return '"phases" is not a list of phases';
  if (!isListOf(run['tags'], isText)) return '"tags" is not a list of texts';
  const wrong = ['comparison_key', 'target', 'tool'].find((name) => !isObject(run[name]));
  return wrong === undefined ? null : `"${wrong}" is not an object`;
}

/** What makes a result.json unreadable, in a few words; null if every reader can rely on its structure. */
export function resultProblem(result: StoredObject): string | null {
  const wrong = ['window', 'requests', 'errors', 'client', 'servers'].find((name) => !isObject(result[name]));
  if (wrong !== undefined) return `"${wrong}" is not an object`;
  if (!isListOf(result['slos'], isObject)) return '"slos" is not a list of objectives';
  const { measures } = result;
  if (!Array.isArray(measures)) return '"measures" is not a list';
  const at = measures.findIndex((measure) => !isMeasure(measure));
  return at < 0 ? null : `"measures" has no measure at position ${at + 1}`;
}

function isMeasure(value: unknown): boolean {
  if (!isObject(value) || !isText(value['measure'])) return false;
  if (value['kind'] === 'scalar') return true;
  const { kind, percentiles } = value;
  return (
    kind === 'distribution' && isObject(percentiles) && PERCENTILE_NAMES.every((name) => isObject(percentiles[name]))
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';

const isListOf = (value: unknown, fits: (entry: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);

const isObject = (value: unknown): value is StoredObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
