import type { MeasureResult } from '../../../core/run/result.ts';
import { isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { longLineNote } from '../reading/read-json-lines.ts';
import { readLineBlocks } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';

type IterationRow = Readonly<Record<string, unknown>>;

/** One value per iteration of the engine; null where a row does not report. */
const PER_ITERATION: readonly (readonly [StatedIdentity, (row: IterationRow) => number | null])[] = [
  [
    { measure: 'iteration_latency', definition: 'engine_iteration', unit: 'seconds', origin: 'server' },
    (row) => scaled(amount(row, 'iterLatencyMS'), 1e-3),
  ],
  [
    { measure: 'requests_active', definition: 'per_engine_iteration', unit: 'requests', origin: 'server' },
    (row) => amount(row, 'numActiveRequests'),
  ],
  [
    { measure: 'requests_queued', definition: 'per_engine_iteration', unit: 'requests', origin: 'server' },
    (row) => amount(row, 'numQueuedRequests'),
  ],
  [
    {
      measure: 'kv_cache_used_ratio',
      definition: 'blocks_used_over_blocks_per_iteration',
      unit: 'ratio',
      origin: 'server',
    },
    ({ kvCacheStats: stats }) => {
      const most = isObject(stats) ? amount(stats, 'maxNumBlocks') : null;
      return isObject(stats) && most !== null && most > 0 ? scaled(amount(stats, 'usedNumBlocks'), 1 / most) : null;
    },
  ],
];

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
    for (const [i, [, valueOf]] of PER_ITERATION.entries()) {
      const value = valueOf(row);
      if (value !== null) values[i]?.push(value);
    }
  }
  return PER_ITERATION.flatMap(([identity], i) => exactStated(identity, Float64Array.from(values[i] ?? [])) ?? []);
}

async function* rowsOf(file: SourceFile, notes: ImportNotes, reading: Reading): AsyncGenerator<IterationRow> {
  for await (const { bytes, edges, firstNumber } of readLineBlocks(file, reading, longLineNote(notes))) {
    for (let i = 0; i < edges.length; i += 2) {
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const row = text.trim() === '' ? null : rowOf(text);
      if (row !== null) yield row;
      else if (text.trim() !== '') notes.count('lines of the iteration log left out', `line ${firstNumber + i / 2}`);
    }
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
    return NAMES[found] ?? found;
  });
}

function amount(row: IterationRow, name: string): number | null {
  const value = Object.hasOwn(row, name) ? row[name] : null;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}
