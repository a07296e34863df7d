import { join } from 'node:path';
import { fileSha256, readChecksums } from './checksums.ts';
import { readResultFile, readRunFile } from './read-run-files.ts';
import type { RunStore } from '../run-store.ts';
import { codeOf, reasonOf } from '../../errors/store-errors.ts';

/** The verification of a run's files. */
export interface Verification {
  readonly run_id: string;
  /** `unsealed`: stored without checksums, so only its format could be verified. */
  readonly state: 'ok' | 'unsealed' | 'damaged';
  /** Number of files that were compared with their checksums. */
  readonly files: number;
  /** Problems, one line each. */
  readonly problems: readonly string[];
}

/** Compares a finished run's files with the checksums of when it was sealed, and reads run.json and result.json. */
export async function verifyRun(store: RunStore, runId: string): Promise<Verification> {
  const folder = await store.wholePathOf(runId);
  const problems: string[] = [];
  const unreadable = new Map<string, string>();
  for (const [path, read] of [
    ['run.json', readRunFile],
    ['result.json', readResultFile],
  ] as const) {
    await read(folder).catch((error: unknown) => unreadable.set(path, reasonOf(error)));
  }
  const sums = await readChecksums(folder).catch((error: unknown) => {
    problems.push(`the checksums cannot be read: ${reasonOf(error)}`);
    return null;
  });
  for (const [path, sum] of sums ?? []) {
    const problem = await difference(join(folder, path), sum);
    // One line per problem: why a file cannot be read is more specific than a different checksum.
    if (problem === null || (unreadable.has(path) && problem !== MISSING)) continue;
    unreadable.delete(path);
    problems.push(`${path} ${problem}`);
  }
  problems.unshift(...unreadable.values());
  const state = problems.length > 0 ? 'damaged' : sums === null ? 'unsealed' : 'ok';
  return { run_id: runId, state, files: sums?.size ?? 0, problems };
}

const MISSING = 'is missing';

/** In words; null if there is none. */
async function difference(path: string, sum: string): Promise<string | null> {
  try {
    return (await fileSha256(path)) === sum ? null : 'differs from its checksum';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? MISSING : `cannot be read: ${reasonOf(error)}`;
  }
}
