import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRegularFile } from '../files/read-regular-file.ts';
import { fileSha256, readChecksums, textSha256 } from './sealed/checksums.ts';
import { readResultFile, readRunFile } from './sealed/read-run-files.ts';
import type { RunStore } from './run-store.ts';
import { codeOf, reasonOf, SchemaVersionError } from '../errors/expected-error.ts';

/** The verification of a run's files. */
export interface Verification {
  readonly run_id: string;
  /**
   * `unsealed`: stored without checksums, so only its format could be verified. `newer`: as it was stored, by a version of
   * this program whose format this one does not know.
   */
  readonly state: 'ok' | 'unsealed' | 'newer' | 'damaged';
  /** Number of files that were compared with their checksums. */
  readonly files: number;
  /** Problems, one line each. */
  readonly problems: readonly string[];
}

/** Compares a finished run's files with the checksums of when it was sealed, and reads run.json and result.json. */
export async function verifyRun(store: RunStore, runId: string): Promise<Verification> {
  const folder = await store.wholePathOf(runId);
  const problems: string[] = [];
  const newer: string[] = [];
  const unreadable = new Map<string, string>();
  for (const [path, read] of [
    ['run.json', readRunFile],
    ['result.json', readResultFile],
  ] as const) {
    await read(folder).catch((error: unknown) => {
      if (error instanceof SchemaVersionError) newer.push(reasonOf(error));
      else unreadable.set(path, reasonOf(error));
    });
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
  const intact = newer.length > 0 ? 'newer' : sums === null ? 'unsealed' : 'ok';
  const state = problems.length > 0 ? 'damaged' : intact;
  return { run_id: runId, state, files: sums?.size ?? 0, problems: [...newer, ...problems] };
}

/** run.json and its checksum are replaced one after the other: they differ no longer than this. */
const MAX_EDIT_MS = 200;
const PAUSE_MS = 20;
const SEALED_FACTS = ['result.json', 'run.json'];

/**
 * Whether run.json and result.json are as they were sealed, at a fraction of the cost of all files: what differs, with the
 * remedy, for anyone who rests a decision on them; else null. A run that was stored without checksums is taken as it is.
 */
export async function changedSinceSealed(folder: string): Promise<string | null> {
  const giveUpAt = Date.now() + MAX_EDIT_MS;
  for (;;) {
    const sums = await readChecksums(folder);
    const changed: string[] = [];
    for (const path of SEALED_FACTS) {
      const sum = sums?.get(path);
      if (sum !== undefined && textSha256(await readRegularFile(join(folder, path))) !== sum) changed.push(path);
    }
    const [first] = changed;
    if (first === undefined) return null;
    if (first !== 'run.json' || Date.now() > giveUpAt)
      return `its ${first} differs from its checksum; \`llmbench runs verify\` lists such runs, with --set-aside it moves them away`;
    await pause(PAUSE_MS);
  }
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
