import { basename } from 'node:path';
import type { ResultFile } from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { migrated } from '../migrations/migrate.ts';
import type { StoredObject } from '../migrations/migrate.ts';
import { resultProblem, runProblem } from './file-shape.ts';
import { resultFilePath, runFilePath } from '../run-paths.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { DamagedRunError, reasonOf } from '../../errors/store-errors.ts';

const PROBLEMS = { run: runProblem, result: resultProblem };
const LONGEST_RUN_ID = 64;
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
    `its run_id is ${JSON.stringify(run.run_id.slice(0, LONGEST_RUN_ID))}: a folder and its run must have the same name`,
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
  const file = migrated(kind, path, { ...value });
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
