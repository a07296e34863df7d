import { benchRuns } from '../serving-bench/bench-results.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, Recognition } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { benchRun } from './bench-run.ts';

/** Lines of SGLang's `bench_serving`, with and without `--output-details`; each line is a run. */
export const SGLANG: Importer = {
  tool: 'sglang',
  recognize,
  // Which lines there are, what the lists are, and what they come to.
  passes: 3,
  read,
};

/** Keys of every version, from before what may be long. */
const SIGNATURE = ['backend', 'request_rate', 'sharegpt_output_len', 'random_range_ratio'] as const;

function recognize({ head: { keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  const isSglang = SIGNATURE.every((key) => keys.includes(key)) && !keys.includes('model_id');
  return isSglang ? { format: 'sglang-bench-serving' } : null;
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    yield* benchRuns(file, context, benchRun);
  }
}
