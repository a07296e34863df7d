import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/expected-error.ts';

/** Next to the finished runs, under a name that is not a run's: a runs directory for each shard of a run. */
const folderOf = (runsDirectory: string, runId: string): string => join(runsDirectory, `${runId}.shards`);

/** The runs directory in which one shard of a run is measured. */
export const shardDirectory = (runsDirectory: string, runId: string, shard: string): string =>
  join(folderOf(runsDirectory, runId), shard);

/** The existing runs directories of a run's shards, in the order of their numbers. */
export async function shardDirectories(runsDirectory: string, runId: string): Promise<readonly string[]> {
  const folder = folderOf(runsDirectory, runId);
  try {
    const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
    return names.sort((a, b) => Number(a) - Number(b)).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** `shard 3`, or `shards 3, 5 and 8`; at most five are named. */
export function shardsText(parts: readonly (number | string)[]): string {
  const named = parts.slice(0, MAX_NAMED).map(String);
  const more = parts.length - named.length;
  if (parts.length === 1) return `shard ${named[0]}`;
  const last = more > 0 ? `${more} more` : named.pop();
  return `shards ${named.join(', ')} and ${last}`;
}

const MAX_NAMED = 5;
