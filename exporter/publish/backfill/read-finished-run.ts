import { readResultFile, readRunFile } from '../../store/read-run-files.ts';
import type { FinishedRun } from '../finished-run.ts';
import { readServersFile } from '../views/read-servers-file.ts';

/** What the folder of a run that has ended says of it. Throws `DamagedRunError`, or `SchemaVersionError`. */
export async function readFinishedRun(folder: string): Promise<FinishedRun> {
  const [run, result, servers] = await Promise.all([
    readRunFile(folder),
    readResultFile(folder),
    readServersFile(folder),
  ]);
  return { run, result, servers };
}
