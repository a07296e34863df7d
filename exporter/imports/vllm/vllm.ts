import { basename, dirname } from 'node:path';
import { benchRuns } from '../serving-bench/bench-results.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer } from '../importer.ts';
import { benchRun } from './bench-run.ts';
import { groupVllm } from './group.ts';
import { recognizeVllm } from './recognize.ts';

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
