import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../errors/expected-error.ts';
import { findFiles } from './find-files.ts';
import { importFiles } from './import-files.ts';
import type { ImportOutcome, ImportReport, ImportRequest } from './import-files.ts';

export interface WatchRequest extends Omit<ImportRequest, 'paths' | 'onProgress'> {
  readonly folders: readonly string[];
  /** A folder is complete when nothing in it has changed for this long. */
  readonly settleSeconds: number;
  /** Interval between two looks; default 1. */
  readonly pollSeconds?: number;
  /** How long to wait for files that cannot be imported yet, before they are refused; default 60. */
  readonly patienceSeconds?: number;
  /** Milliseconds on a clock that does not jump; default `performance.now`. */
  readonly now_ms?: () => number;
  /** Called before each look. */
  readonly beforeLook?: () => Promise<void>;
}

const DEFAULT_POLL_SECONDS = 1;
const DEFAULT_PATIENCE_SECONDS = 60;

const NO_LISTENER = { planned: () => undefined, read: () => undefined, done: () => undefined };

/** What a folder held when it was last looked at, and since when it is so. */
interface FolderState {
  readonly signature: string;
  readonly since_ms: number;
  /** Whether its results are imported, or were refused for good. */
  readonly settled: boolean;
}

/**
 * Imports what appears in folders, and below them, until the signal aborts: one report whenever something was
 * imported or refused. What is still written is waited for: a folder is read when its files have rested, and what is torn
 * or not whole then is refused only when it stays so.
 */
export async function* watchFolders(request: WatchRequest): AsyncGenerator<ImportReport> {
  const { folders, settleSeconds, signal, now_ms = () => performance.now() } = request;
  const patience = request.patienceSeconds ?? DEFAULT_PATIENCE_SECONDS;
  const states = new Map<string, FolderState>();
  for (;;) {
    await request.beforeLook?.();
    if (signal.aborted) return;
    const now = now_ms();
    for (const [folder, files] of await filesByFolder(folders)) {
      const { signature, paths } = files;
      const before = states.get(folder);
      if (before?.signature !== signature) {
        states.set(folder, { signature, since_ms: now, settled: false });
        if (settleSeconds > 0) continue;
      }
      const state = states.get(folder);
      if (state === undefined || state.settled || now - state.since_ms < settleSeconds * 1000) continue;
      const isPatient = now - state.since_ms < patience * 1000;
      const report = await importFiles({
        ...request,
        paths,
        accept: (group) => group.partial !== true || !isPatient,
        onProgress: NO_LISTENER,
      });
      const waits = isPatient && (report.deferred > 0 || report.outcomes.some(({ status }) => status === 'refused'));
      states.set(folder, { ...state, settled: !waits });
      const reported = report.outcomes.filter((outcome) => isNews(outcome, isPatient));
      if (reported.length > 0) yield { ...report, outcomes: reported };
    }
    await sleep((request.pollSeconds ?? DEFAULT_POLL_SECONDS) * 1000, undefined, { signal }).catch(stopped(signal));
  }
}

/** A refusal is news when it is final; that something is known already is none. */
function isNews({ status }: ImportOutcome, isPatient: boolean): boolean {
  return status === 'imported' || status === 'updated' || (status === 'refused' && !isPatient);
}

function stopped(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

async function filesByFolder(
  folders: readonly string[],
): Promise<Map<string, { readonly signature: string; readonly paths: readonly string[] }>> {
  const { paths } = await findFiles(folders);
  const found = new Map<string, { signature: string; paths: string[] }>();
  for (const path of paths) {
    const state = await stat(path).catch((error: unknown) => {
      // Moved away while we looked: the next look shows where.
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (state === null) continue;
    const folder = found.get(dirname(path)) ?? { signature: '', paths: [] };
    folder.paths.push(path);
    folder.signature += `${path}\0${state.size}\0${state.mtimeMs}\0${state.ino}\n`;
    found.set(dirname(path), folder);
  }
  return found;
}
