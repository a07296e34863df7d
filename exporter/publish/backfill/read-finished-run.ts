import { readFinishedRunFile, readResultFile } from '../../store/sealed/read-run-files.ts';
import type { FinishedRun } from '../finished-run.ts';
import { readServersFile } from '../../store/servers/read-servers-json.ts';

/** What the folder of a run that has ended says of it. Throws `DamagedRunError`, or `SchemaVersionError`. */
export async function readFinishedRun(folder: string): Promise<FinishedRun> {
  const [run, result, servers] = await Promise.all([
    readFinishedRunFile(folder),
    readResultFile(folder),
    readServersFile(folder),
  ]);
  // An older run has a new fingerprint since it is read in its present form.
  return { run, result: { ...result, fingerprint: run.fingerprint }, servers };
}
