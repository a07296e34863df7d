import { significant, things } from '../../../../core/text/quantities.ts';
import { StorageError, DamagedRunError } from '../../../errors/expected-error.ts';
import { readInBatches } from '../../../files/read-regular-file.ts';
import type { IndexedRun } from '../../../store/index/rows.ts';
import { ObjectStorage } from '../../../store/object-storage/object-storage.ts';
import { forgetUpload, packUploaded, uploadRun, type UploadedRun } from '../../../store/object-storage/upload-run.ts';
import { readManifest } from '../../../store/object-storage/download-run.ts';
import type { RunStore } from '../../../store/run-store.ts';
import { ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag } from '../../options/options.ts';
import { STORAGE_OPTIONS, storageAccess } from '../../options/storage-options.ts';
import { indexedRuns, namedRuns, requiredStore, RUNS_DIR, STORE, storeOf, WHERE } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  store: STORE,
  where: WHERE,
  ...STORAGE_OPTIONS,
  json: flag('print JSON'),
};
const MEGABYTE = 1_000_000;
const PACKED_AT_ONCE = 500;
const USAGE = 'llmbench runs push [RUN…] --store s3://BUCKET/PREFIX [options]';
const EXAMPLES = [
  'llmbench runs push --store s3://benchmarks/team-a',
  'llmbench runs push latest --store s3://benchmarks/team-a --s3-endpoint http://minio:9000',
  'llmbench runs push --where scenario=nightly --store s3://benchmarks/nightly',
];

/** Uploads runs, all that the store lacks unless named. Exit code 1 when one of them could not be uploaded. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } },
  async ({ options: values, positionals }) => {
    const location = requiredStore(values.store, USAGE);
    const store = await storeOf(values['runs-dir']);
    const runs =
      positionals.length === 0 ? await indexedRuns(store, values.where) : await namedRuns(store, positionals);
    const work = async (storage: ObjectStorage): Promise<number> => {
      const pushed: UploadedRun[] = [];
      const unpacked: string[] = [];
      let failed = 0;
      for (const { run_id } of positionals.length === 0 ? await lacking(storage, runs) : runs) {
        const uploaded = await pushRun(storage, store, run_id);
        if (uploaded === null) failed += 1;
        else pushed.push(uploaded);
        if (uploaded !== null && !values.json) process.stdout.write(`${lineOf(uploaded)}\n`);
        if (uploaded?.state === 'uploaded') unpacked.push(run_id);
        if (unpacked.length >= PACKED_AT_ONCE) await packUploaded(storage, store, unpacked.splice(0));
      }
      await packUploaded(storage, store, unpacked);
      const present = runs.length - pushed.length - failed;
      process.stdout.write(
        values.json ? `${JSON.stringify(pushed, null, 2)}\n` : `${summary(pushed, present, storage.url)}\n`,
      );
      return failed > 0 ? ExitCode.failed : ExitCode.done;
    };
    return ObjectStorage.use(location, storageAccess(values), work);
  },
);

/** The runs that can be read and are not complete there, oldest first. */
async function lacking(storage: ObjectStorage, runs: readonly IndexedRun[]): Promise<readonly IndexedRun[]> {
  const known = new Set(await storage.folders());
  const whole = runs.filter(({ damage }) => damage === null);
  const complete = await readInBatches(
    whole,
    async ({ run_id }) => known.has(run_id) && (await readManifest(storage, run_id)) !== null,
  );
  return whole.filter((_, i) => complete[i] === false).reverse();
}

/** Null if it was reported why it could not be uploaded. Throws a `StorageError` that concerns all runs. */
async function pushRun(storage: ObjectStorage, store: RunStore, runId: string): Promise<UploadedRun | null> {
  try {
    const uploaded = await uploadRun(storage, store, runId);
    await forgetUpload(store.directory, runId);
    return uploaded;
  } catch (error) {
    const isOfRun = error instanceof DamagedRunError || (error instanceof StorageError && error.problem === 'damaged');
    if (!isOfRun) throw error;
    process.stderr.write(`${runId}  not uploaded: ${error.message}\n`);
    return null;
  }
}

function lineOf({ run_id, state, bytes }: UploadedRun): string {
  if (state === 'uploaded') return `${run_id}  uploaded, ${significant(bytes / MEGABYTE)} MB`;
  return `${run_id}  there already${state === 'tagged' ? ', with other tags; tags are not changed there' : ''}`;
}

function summary(pushed: readonly UploadedRun[], present: number, url: string): string {
  const uploaded = pushed.filter(({ state }) => state === 'uploaded').length;
  const there = present + pushed.length - uploaded;
  return `${things(uploaded, 'runs')} uploaded to ${url}${there === 0 ? '' : `, ${there} there already`}`;
}
