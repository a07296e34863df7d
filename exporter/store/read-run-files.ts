import { readFile } from 'node:fs/promises';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { resultFilePath, runFilePath } from './run-paths.ts';
import { DamagedRunError, reasonOf, SchemaVersionError } from './store-errors.ts';

/** The version of run.json and result.json that this program writes, and reads. */
export const SCHEMA_VERSION = 1;

const STATUSES = ['running', 'completed', 'aborted', 'failed'];

/** The run.json of a folder. Throws `DamagedRunError` or `SchemaVersionError`. */
export async function readRunFile(folder: string): Promise<RunFile> {
  const file = await readVersioned(runFilePath(folder), [
    'scenario',
    'fingerprint',
    'comparison_key',
    'phases',
    'target',
  ]);
  return file as unknown as RunFile;
}

/** The result.json of a folder. Throws `DamagedRunError` or `SchemaVersionError`. */
export async function readResultFile(folder: string): Promise<ResultFile> {
  const file = await readVersioned(resultFilePath(folder), ['window', 'requests', 'errors', 'client', 'measures']);
  return file as unknown as ResultFile;
}

/** Checks what every reader relies on; the JSON Schemas say the rest. */
async function readVersioned(path: string, required: readonly string[]): Promise<Record<string, unknown>> {
  const value = await readJson(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DamagedRunError(path, 'no object');
  const file: Record<string, unknown> = { ...value };
  const version = file['schema_version'];
  if (typeof version !== 'number') throw new DamagedRunError(path, 'it has no schema version');
  if (version !== SCHEMA_VERSION) throw new SchemaVersionError(path, version, SCHEMA_VERSION);
  if (typeof file['run_id'] !== 'string') throw new DamagedRunError(path, 'it has no run_id');
  if (!STATUSES.includes(String(file['status']))) throw new DamagedRunError(path, 'its status is unknown');
  const missing = required.find((key) => file[key] === undefined);
  if (missing !== undefined) throw new DamagedRunError(path, `it has no "${missing}"`);
  return file;
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new DamagedRunError(path, reasonOf(error));
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedRunError(path, 'it is not JSON');
  }
}
