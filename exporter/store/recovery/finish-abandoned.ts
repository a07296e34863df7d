import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StagedSummary } from '../../../core/measures/staged-summary.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { discardFolder } from '../temporary-file.ts';
import { exists } from '../../files/exists.ts';
import { FileShelf } from '../file-shelf.ts';
import { startHeartbeat } from '../../files/process-identity.ts';
import { readJsonlRecords } from '../records/records-jsonl.ts';
import { readRunFile } from '../sealed/read-run-files.ts';
import { runFilePath, runPaths } from '../run-paths.ts';
import { resultOf, summaryOptions, UNKNOWN_HEALTH, publish, storeRecords, writeOutcome } from '../sealed/seal-run.ts';

const FAILURE = 'the process ended before the run did; records up to the last half second are kept';

/** The outcome for an abandoned folder: a line for people, and the run that is now finished, or null. */
export interface Abandoned {
  readonly message: string;
  readonly finished: string | null;
}

/** Finishes the run of a folder that this process has claimed. Throws if it cannot. */
export async function finishAbandoned(runsDirectory: string, claimed: string, runId: string): Promise<Abandoned> {
  if (!(await exists(runFilePath(claimed)))) {
    // Its process was killed while it created the folder: the run had not started.
    await rm(claimed, { recursive: true });
    return { message: `run ${runId} had not started when its process ended: removed`, finished: null };
  }
  const heartbeat = startHeartbeat(claimed);
  try {
    const run = await readRunFile(claimed);
    if (run.status !== 'running') {
      if (await isSecondCopy(runsDirectory, run)) {
        await discardFolder(runsDirectory, claimed, runId);
        const message = `a second copy of the import ${runId}, left by a process that ended, was removed`;
        return { message, finished: null };
      }
      await publish(runsDirectory, claimed, run);
      const message = `run ${runId} (${run.status}) was moved to the finished runs: its process ended before it did that`;
      return { message, finished: runId };
    }
    const { run: aborted, requests } = await abort(claimed, run);
    await publish(runsDirectory, claimed, aborted);
    const message = `run ${runId} was finished as aborted: its process had ended; ${requests} requests are kept`;
    return { message, finished: runId };
  } finally {
    heartbeat.stop();
  }
}

/** Two processes imported the same files at once, and one of them ended before it noticed. */
async function isSecondCopy(runsDirectory: string, { run_id, source }: RunFile): Promise<boolean> {
  if (source === null || !(await exists(join(runsDirectory, run_id)))) return false;
  const first = await readRunFile(join(runsDirectory, run_id));
  return first.source?.sha256 === source.sha256;
}

/** Writes the records of a run without a process as Parquet, and their result. */
async function abort(claimed: string, run: RunFile): Promise<{ run: RunFile; requests: number }> {
  const paths = runPaths(claimed, run.shard);
  const shelf = new FileShelf(paths.figures);
  const summary = new StagedSummary({ ...summaryOptions(run), shelf });
  for await (const record of readJsonlRecords(paths.jsonl)) summary.add(record);
  const { rows, chunks } = await storeRecords(paths, summary);
  const aborted = { ...run, status: 'aborted' as const, recovered: true, failure: FAILURE };
  const { result } = await resultOf(aborted, summary, chunks, UNKNOWN_HEALTH);
  await shelf.close();
  await writeOutcome(paths, aborted, result);
  return { run: aborted, requests: rows };
}
