import { StorageError } from '../errors/storage-errors.ts';
import { RunUploads } from '../run/run-uploads.ts';
import { CliError } from './failure.ts';
import { storageAccess } from './options/storage-options.ts';
import type { RunOptions } from './options/run-options.ts';

/** Where runs are uploaded to; null if they are not. Throws a `CliError` if nothing can be read there. */
export async function requestedUploads(options: RunOptions, say: (line: string) => void): Promise<RunUploads | null> {
  if (options.upload === null) return null;
  const uploads = new RunUploads(options.upload, storageAccess(options), options['upload-timeout'], say);
  try {
    await uploads.check();
  } catch (error) {
    if (error instanceof StorageError) throw new CliError(`--upload: ${error.message}`);
    throw error;
  }
  return uploads;
}
