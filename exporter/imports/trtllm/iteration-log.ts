import { ownValue } from '../../../core/text/own-value.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { readTextLines } from '../reading/read-json-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { exactStated } from '../stated/stated-measures.ts';

type IterationRow = Readonly<Record<string, unknown>>;

/** What a row reports of its iteration; null where it does not. */
const PER_ITERATION: readonly (readonly [
  measure: string,
  definition: string,
  unit: Unit,
  valueOf: (row: IterationRow) => number | null,
])[] = [
  ['iteration_latency', 'engine_iteration', 'seconds', (row) => amount(row, 'iterLatencyMS', 1e-3)],
  ['requests_active', 'per_engine_iteration', 'requests', (row) => amount(row, 'numActiveRequests')],
  ['requests_queued', 'per_engine_iteration', 'requests', (row) => amount(row, 'numQueuedRequests')],
  ['kv_cache_used_ratio', 'blocks_used_over_blocks_per_iteration', 'ratio', usedBlocks],
];

function usedBlocks({ kvCacheStats: stats }: IterationRow): number | null {
  if (!isObject(stats)) return null;
  const most = amount(stats, 'maxNumBlocks');
  return most === null || most <= 0 ? null : amount(stats, 'usedNumBlocks', 1 / most);
}

/**
 * What `--iteration_log` reports of the engine, one value per iteration. Its lines are Python's way of writing a dict, not
 * JSON; a line that is neither is left out and counted.
 */
export async function iterationMeasures(
  file: SourceFile,
  notes: ImportNotes,
  reading: Reading,
): Promise<MeasureResult[]> {
  const values = PER_ITERATION.map((): number[] => []);
  for await (const row of rowsOf(file, notes, reading)) {
    for (const [i, [, , , valueOf]] of PER_ITERATION.entries()) {
      const value = valueOf(row);
      if (value !== null) values[i]?.push(value);
    }
  }
  return PER_ITERATION.flatMap(
    ([measure, definition, unit], i) =>
      exactStated({ measure, definition, unit, origin: 'server' }, Float64Array.from(values[i] ?? [])) ?? [],
  );
}

async function* rowsOf(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<IterationRow> {
  for await (const { number, text } of readTextLines(file, notes, reading)) {
    const row = rowOf(text);
    if (row !== null) yield row;
    else notes.count('lines of the iteration log left out', `line ${number}`);
  }
}

function rowOf(text: string): IterationRow | null {
  try {
    const { value } = parseJson(jsonOfPython(text));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

/** A string of Python in either quotes, or one of its names for what JSON calls otherwise. */
const PYTHON = /'((?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|\b(?:None|True|False|nan|inf)\b/g;
const NAMES: Readonly<Record<string, string>> = {
  None: 'null',
  True: 'true',
  False: 'false',
  nan: 'null',
  inf: 'null',
};

/** The JSON of what Python's `repr` writes for a dict of plain values. */
export function jsonOfPython(text: string): string {
  return text.replace(PYTHON, (found: string, single: string | undefined) => {
    if (single !== undefined) return JSON.stringify(single.replace(/\\'/g, "'"));
    return ownValue(NAMES, found) ?? found;
  });
}

function amount(row: IterationRow, name: string, scale = 1): number | null {
  const value = Object.hasOwn(row, name) ? row[name] : null;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * scale : null;
}
