import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFile } from '../../../core/run/run.ts';
import { replaceJson } from '../../files/durable-file.ts';
import { startHeartbeat, isOwned, ownIdentity } from '../../files/process-identity.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { parseUnfinishedName, servedName, unfinishedDirectory } from '../run-paths.ts';
import { readRunFile } from '../sealed/read-run-files.ts';
import { temporariesOf } from '../temporary-file.ts';
import { unfinishedNames } from './recover.ts';

/** What the discovery of live metrics needs of a run; `process` is the one that serves them. */
export type ServedRun = Pick<RunFile, 'run_id' | 'start' | 'process'>;

/**
 * Records that this process serves the live metrics of a run that has ended, until `stop`: the run is discovered after it
 * was published, and has no other publisher. To be called before it is published. Throws the file system's error.
 */
export async function recordServed(runsDirectory: string, runId: string): Promise<{ stop(): Promise<void> }> {
  const unfinished = unfinishedDirectory(runsDirectory);
  const { run_id, start, process } = await readRunFile(join(unfinished, runId));
  const owner = ownIdentity();
  const path = join(unfinished, servedName(run_id, owner));
  const served: ServedRun = { run_id, start, process: process && { ...process, ...owner } };
  await replaceJson(path, served, temporariesOf(runsDirectory));
  const heartbeat = startHeartbeat(path);
  return {
    async stop() {
      heartbeat.stop();
      await rm(path, { force: true });
    },
  };
}

/** The runs that have ended and whose live metrics a process still serves. */
export async function servedRuns(runsDirectory: string): Promise<readonly ServedRun[]> {
  const runs: ServedRun[] = [];
  for (const name of await unfinishedNames(runsDirectory)) {
    const parsed = parseUnfinishedName(name);
    if (parsed?.kind !== 'page' || parsed.owner === null) continue;
    const path = join(unfinishedDirectory(runsDirectory), name);
    // Its process may have removed it in between.
    const isServed = await isOwned(parsed.owner, path).catch(() => false);
    const run = isServed ? await readServed(path) : null;
    if (run?.run_id === parsed.runId) runs.push(run);
  }
  return runs;
}

async function readServed(path: string): Promise<ServedRun | null> {
  try {
    const value: unknown = JSON.parse(await readRegularFile(path));
    return isServedRun(value) ? value : null;
  } catch {
    // Removed, or not written by this program.
    return null;
  }
}

function isServedRun(value: unknown): value is ServedRun {
  if (typeof value !== 'object' || value === null) return false;
  const { run_id, start, process } = value as Partial<Record<keyof ServedRun, unknown>>;
  return (
    typeof run_id === 'string' &&
    (start === null || typeof start === 'string') &&
    (process === null || isProcess(process))
  );
}

function isProcess(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { metrics_url, server_metrics_urls: urls } = value as Record<string, unknown>;
  const isText = (each: unknown): boolean => typeof each === 'string';
  return (metrics_url === null || isText(metrics_url)) && Array.isArray(urls) && urls.every(isText);
}
