import { basename } from 'node:path';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { migrated, type StoredObject } from '../migrations/migrate.ts';
import { resultFilePath, runFilePath } from '../run-paths.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { wholeResult } from './stored-measures.ts';
import { DamagedRunError, reasonOf } from '../../errors/expected-error.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';

/** What makes a run.json unreadable, in a few words; null if every reader can rely on its structure. */
function runProblem(run: StoredObject): string | null {
  if (!isListOf(run['phases'], isObject)) return '"phases" is not a list of phases';
  if (!isListOf(run['tags'], isText)) return '"tags" is not a list of texts';
  const wrong = ['comparison_key', 'target', 'tool'].find((name) => !isObject(run[name]));
  return wrong === undefined ? null : `"${wrong}" is not an object`;
}

/** What makes a result.json unreadable, in a few words; null if every reader can rely on its structure. */
function resultProblem(result: StoredObject): string | null {
  const wrong = ['window', 'requests', 'errors', 'client'].find((name) => !isObject(result[name]));
  if (wrong !== undefined) return `"${wrong}" is not an object`;
  if (result['servers'] !== null && !isObject(result['servers'])) return '"servers" is not an object';
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

const PROBLEMS = { run: runProblem, result: resultProblem };
const MAX_RUN_ID = 64;
const STATUSES = ['running', 'completed', 'aborted', 'failed'];

/** The run.json of a folder, of any supported version. */
export async function readRunFile(folder: string): Promise<RunFile> {
  const file = await readVersioned('run', runFilePath(folder), [
    'scenario',
    'fingerprint',
    'comparison_key',
    'phases',
    'target',
    'tags',
  ]);
  return file as unknown as RunFile;
}

/**
 * The run.json of a finished run, in the folder of its name: a copied folder would report the same run twice. Throws
 * like `readRunFile`.
 */
export async function readFinishedRunFile(folder: string): Promise<RunFile> {
  const run = await readRunFile(folder);
  if (run.run_id === basename(folder)) return run;
  throw new DamagedRunError(
    runFilePath(folder),
    `its run_id is ${JSON.stringify(run.run_id.slice(0, MAX_RUN_ID))}: a folder and its run must have the same name`,
  );
}

/** The result.json of a folder, of any supported version. Throws `DamagedRunError` or `SchemaVersionError`. */
export async function readResultFile(folder: string): Promise<ResultFile> {
  const required = ['window', 'requests', 'errors', 'client', 'measures'];
  const file = await readVersioned('result', resultFilePath(folder), required);
  return file as unknown as ResultFile;
}

/** Migrates the file and checks what every reader relies on; the JSON Schemas define the rest. */
async function readVersioned(kind: 'run' | 'result', path: string, required: readonly string[]): Promise<StoredObject> {
  const value = await readJson(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DamagedRunError(path, 'not an object');
  const current = migrated(kind, path, { ...value });
  const file = kind === 'result' ? wholeResult(current) : current;
  if (typeof file['run_id'] !== 'string') throw new DamagedRunError(path, 'it has no run_id');
  if (!STATUSES.includes(String(file['status']))) throw new DamagedRunError(path, 'its status is unknown');
  const missing = required.find((key) => file[key] === undefined);
  if (missing !== undefined) throw new DamagedRunError(path, `it has no "${missing}"`);
  const problem = PROBLEMS[kind](file);
  if (problem !== null) throw new DamagedRunError(path, problem);
  return file;
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readRegularFile(path);
  } catch (error) {
    throw new DamagedRunError(path, reasonOf(error));
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedRunError(path, 'it is not JSON');
  }
}
