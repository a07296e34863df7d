import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RESERVED_RUN_ID } from '../../../core/run/run-id.ts';
import { codeOf } from '../../errors/expected-error.ts';

/** File names have a limit of 255 bytes on the usual file systems. */
const MAX_NAME = 200;
const HASH_DIGITS = 16;

/** The files of one scenario, next to the runs; logs are append-only. */
export interface ScenarioPaths {
  readonly folder: string;
  readonly baseline: string;
  readonly verdicts: string;
  /** Folder of the searches for the capacity, a file for each. */
  readonly capacity: string;
}

export function scenarioPaths(runsDirectory: string, scenario: string): ScenarioPaths {
  return pathsIn(join(scenariosDirectory(runsDirectory), folderName(scenario)));
}

/** The paths of every scenario with a folder, in alphabetical order. Throws if the directory cannot be read. */
export async function listScenarioPaths(runsDirectory: string): Promise<readonly ScenarioPaths[]> {
  const parent = scenariosDirectory(runsDirectory);
  try {
    const found = await readdir(parent, { withFileTypes: true });
    return found
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => pathsIn(join(parent, name)))
      .sort((a, b) => (a.folder < b.folder ? -1 : 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

const scenariosDirectory = (runsDirectory: string): string => join(runsDirectory, RESERVED_RUN_ID);

function pathsIn(folder: string): ScenarioPaths {
  return {
    folder,
    baseline: join(folder, 'baseline.jsonl'),
    verdicts: join(folder, 'verdicts.jsonl'),
    capacity: join(folder, 'capacity'),
  };
}

/**
 * A directory name for any scenario name: bytes other than 0–9, A–Z, a–z, `_`, `-` and `.` (not in front) are
 * percent-encoded; a long name ends in a hash instead.
 */
export function folderName(scenario: string): string {
  const encoded = [...Buffer.from(scenario, 'utf8')]
    .map((byte, i) => (isPlain(byte, i) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`))
    .join('');
  if (encoded.length > 0 && encoded.length <= MAX_NAME) return encoded;
  const hash = createHash('sha256').update(scenario).digest('hex').slice(0, HASH_DIGITS);
  return `${encoded.slice(0, MAX_NAME - HASH_DIGITS - 1).replace(/%.?$/, '')}~${hash}`;
}

const isPlain = (byte: number, position: number): boolean =>
  /[0-9A-Za-z_-]/.test(String.fromCharCode(byte)) || (byte === 0x2e && position > 0);
