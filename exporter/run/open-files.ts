import { readFileSync } from 'node:fs';
import { RefusedError } from './refusal.ts';

/** What a run has open beside the connections of its requests: files, its page, the servers' pages. */
const BESIDE = 64;

/** Throws a `RefusedError` when this process may not have as many connections as the load wants; null is unknown. */
export function checkOpenFiles(concurrency: number | null, limit: number | null): void {
  if (concurrency === null || limit === null || concurrency + BESIDE <= limit) return;
  throw new RefusedError(
    `${concurrency} concurrent requests want as many connections, and this process may have ${limit} open files: ` +
      `\`ulimit -n ${concurrency + BESIDE}\` raises the limit, or spread the load with --shard`,
  );
}

/** How many files this process may have open, as Linux tells (proc(5)); null elsewhere, and without a limit. */
export function openFilesLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? NaN) || null;
  } catch {
    // Another system than Linux.
    return null;
  }
}
