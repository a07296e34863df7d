import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CapacityFile } from '../../../core/run/capacity.ts';
import { isRunId } from '../../../core/run/run-id.ts';
import { codeOf, DamagedRunError } from '../../errors/expected-error.ts';
import { replaceJson } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/exists.ts';
import { temporariesOf } from '../temporary-file.ts';
import { scenarioPaths } from './scenario-folders.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

/** Larger files are rejected: a search has at most some hundred probes. */
const MAX_BYTES = 16 * 1024 * 1024;
const ENDING = '.json';

/** The path of the file of a search. */
export const capacityPath = (runsDirectory: string, scenario: string, groupId: string): string =>
  join(scenarioPaths(runsDirectory, scenario).capacity, `${groupId}${ENDING}`);

/** Replaces the file of a search atomically. Throws the file system's error. */
export async function writeCapacity(runsDirectory: string, file: CapacityFile): Promise<void> {
  await makeDirectory(scenarioPaths(runsDirectory, file.scenario).capacity);
  await replaceJson(capacityPath(runsDirectory, file.scenario, file.group_id), file, temporariesOf(runsDirectory));
}

/** Reads the file of a search; null if it does not exist. Throws `DamagedRunError` if it cannot be read. */
export async function readCapacity(
  runsDirectory: string,
  scenario: string,
  groupId: string,
): Promise<CapacityFile | null> {
  return readCapacityFile(capacityPath(runsDirectory, scenario, groupId));
}

/** The paths of the searches of a scenario, by the IDs of their groups. Throws if the directory cannot be read. */
export async function listCapacityPaths(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(ENDING) && isRunId(name.slice(0, -ENDING.length)))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The same by path. */
export async function readCapacityFile(path: string): Promise<CapacityFile | null> {
  let text: string;
  try {
    text = await readRegularFile(path);
    if (text.length > MAX_BYTES) throw new DamagedRunError(path, `it is larger than ${MAX_BYTES} bytes`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  const value = parsed(text);
  if (!isCapacityFile(value)) throw new DamagedRunError(path, 'it is not a search for a capacity of schema version 1');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isCapacityFile(value: unknown): value is CapacityFile {
  if (typeof value !== 'object' || value === null) return false;
  const { schema_version, group_id, scenario, probes, objectives } = value as Partial<
    Record<keyof CapacityFile, unknown>
  >;
  const named = typeof group_id === 'string' && typeof scenario === 'string';
  return schema_version === 1 && named && Array.isArray(probes) && Array.isArray(objectives);
}
