import { basename, dirname } from 'node:path';
import { benchRuns } from '../serving-bench/bench-results.ts';
import { ALONE, byNumber, groupIdOf } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { benchRun } from './bench-run.ts';
import type { SourceFile } from '../reading/source-file.ts';

const RESULT = 'vllm-bench-serve';
const SWEEP_SUMMARY = 'vllm-bench-sweep-summary';

/** Keys of every version, before the lists of the requests. */
const SIGNATURE = ['model_id', 'num_prompts', 'completed', 'request_throughput'] as const;

/** What of vLLM's a file is; null when it is none of it. */
function recognizeVllm({ name, head }: Pick<SourceFile, 'name' | 'head'>): Recognition | null {
  const { keys, text, firstLine } = head;
  if (SIGNATURE.every((key) => keys.includes(key))) {
    return name === 'warmup.json' ? { format: RESULT, ignored: 'the warm-up of a sweep' } : { format: RESULT };
  }
  if (['error_type', 'serve_overrides'].every((key) => keys.includes(key))) {
    return { format: 'vllm-bench-sweep-failure', ignored: 'a benchmark of a sweep that failed' };
  }
  if (firstLine.includes('run_number') && SIGNATURE.every((key) => firstLine.split(',').includes(key))) {
    return { format: 'vllm-bench-sweep-table', ignored: 'it repeats the results next to it' };
  }
  if (!text.trimStart().startsWith('[')) return null;
  if (text.includes('"name": "vLLM benchmark"')) {
    return { format: 'vllm-pytorch-benchmark', ignored: 'it repeats the result next to it' };
  }
  return SIGNATURE.every((key) => text.includes(`"${key}":`)) ? { format: SWEEP_SUMMARY } : null;
}

/** `vllm bench sweep` writes each run of a combination as this. */
const SWEEP_RUN = /^run=(\d+)\.json$/;

/**
 * Each file is a separate group. The runs of a sweep belong together: a folder per combination is a step, `run=N.json`
 * a repeat. A sweep's `summary.json` repeats the runs next to it and is only read where they are missing.
 */
function groupVllm(files: readonly RecognizedFile[]): readonly FileGroup[] {
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
    return [{ ...ALONE, files: [recognized], name: file.name }];
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
  return {
    group_id: groupIdOf(
      folder,
      runs.toSorted((a, b) => byNumber(a.file.path, b.file.path)),
    ),
    folders,
  };
}

/**
 * Results of `vllm bench serve` and of `benchmark_serving.py` before it, with and without `--save-detailed`, several in a
 * file (`--append-result`), and the folders of `vllm bench sweep serve`.
 */
export const VLLM: Importer = {
  tool: 'vllm',
  recognize: recognizeVllm,
  group: groupVllm,
  // Which lines there are, what the lists are, what they come to, and the records.
  passes: 4,
  read: readVllm,
};

async function* readVllm(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    // All runs of a sweep are of one recipe, and its folder has the name of the experiment.
    const experiment = group.step === null ? null : basename(dirname(file.folder));
    yield* benchRuns(file, context, async (result) => {
      const run = await benchRun(result, context);
      return { ...run, scenario: run.scenario ?? experiment };
    });
  }
}
