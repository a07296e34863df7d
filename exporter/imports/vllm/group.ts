import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import type { FileGroup, RecognizedFile } from '../importer.ts';
import { SWEEP_SUMMARY } from './recognize.ts';

/** `vllm bench sweep` writes each run of a combination as this. */
const SWEEP_RUN = /^run=(\d+)\.json$/;

/**
 * Each file is a separate group. The runs of a sweep belong together: a folder per combination is a step, `run=N.json`
 * a repeat. A sweep's `summary.json` repeats the runs next to it and is only read where they are missing.
 */
export function groupVllm(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const sweeps = sweepsOf(files);
  return files.flatMap((recognized): FileGroup[] => {
    const { file, recognition } = recognized;
    const sweep = sweeps.get(dirname(file.folder));
    const repeat = SWEEP_RUN.exec(file.name)?.[1];
    if (repeat !== undefined && sweep !== undefined) {
      const step = sweep.folders.indexOf(file.folder);
      const name = `${basename(file.folder)}/${file.name}`;
      return [{ files: [recognized], name, group_id: sweep.group_id, step, repeat: Number(repeat) }];
    }
    if (recognition.format === SWEEP_SUMMARY && sweep?.folders.includes(file.folder) === true) return [];
    return [{ files: [recognized], name: file.name, group_id: null, step: null, repeat: null }];
  });
}

interface SweepFolders {
  readonly group_id: string;
  /** Of the combinations, in the order of their numbers. */
  readonly folders: readonly string[];
}

/** By the folder of the experiment. */
function sweepsOf(files: readonly RecognizedFile[]): ReadonlyMap<string, SweepFolders> {
  const runs = Map.groupBy(
    files.filter(({ file }) => SWEEP_RUN.test(file.name)),
    ({ file }) => dirname(file.folder),
  );
  return new Map([...runs].map(([folder, members]) => [folder, sweepOf(folder, members)]));
}

function sweepOf(folder: string, runs: readonly RecognizedFile[]): SweepFolders {
  const folders = [...new Set(runs.map(({ file }) => file.folder))].sort(byNumber);
  // From the content, so that a folder that was moved is the same sweep, and another one of the same name is not.
  const hash = createHash('sha256');
  for (const { file } of [...runs].sort((a, b) => byNumber(a.file.path, b.file.path))) hash.update(file.head.bytes);
  return { group_id: `${basename(folder)}-${hash.digest('hex').slice(0, 10)}`, folders };
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
