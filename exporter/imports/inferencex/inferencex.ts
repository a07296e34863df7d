import { closedLoop } from '../../../core/run/load.ts';
import { Fields } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, Recognition } from '../importer.ts';
import { readJsonDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { asStated, benchStatistics } from '../serving-bench/bench-fields.ts';
import { identityOf, statedDistribution } from '../stated/stated-measures.ts';
import type { StatedFigure } from '../stated/stated-measures.ts';

/**
 * The aggregated results of InferenceX (InferenceMAX before): `agg_*.json`, each made of one result of its copy of vLLM's
 * `benchmark_serving.py`, and the list of all of a workflow. Times are seconds there, and counts are left out.
 */
export const INFERENCEX: Importer = { tool: 'inferencex', recognize, read };

const SIGNATURE = ['hw', 'conc', 'model', 'framework', 'tput_per_gpu'] as const;

function recognize({ head: { keys, text } }: Pick<SourceFile, 'head'>): Recognition | null {
  const isListed = /^\s*\[\s*\{/.test(text);
  const isIt = SIGNATURE.every((key) => (isListed ? text.includes(`"${key}"`) : keys.includes(key)));
  return isIt ? { format: 'inferencex-aggregate' } : null;
}

/** The definitions are those of the benchmark that it runs; who counted the tokens is not reported. */
const METRICS: readonly StatedFigure[] = [
  ['ttft', 'time_to_first_token', 'sent_to_first_chunk'],
  ['tpot', 'inter_token_latency', 'per_request_mean_between_chunks_tokens_of_unknown_source'],
  ['itl', 'inter_chunk_latency', 'gap_between_chunks'],
  ['e2el', 'request_latency', 'sent_to_last_chunk'],
];

/** Facts of the deployment, and figures that are the same in another unit. */
const KNOWN = [
  ...['hw', 'tp', 'ep', 'dp_attention', 'framework', 'precision', 'mtp', 'spec_decoding', 'isl', 'osl', 'image'],
  ...['disagg', 'num_prefill_gpu', 'num_decode_gpu', 'is_multinode', 'infmax_model_prefix', 'pp', 'recipe_fingerprint'],
  ...['prefill', 'decode'].flatMap((part) =>
    ['tp', 'ep', 'dp_attention', 'num_workers'].map((what) => `${part}_${what}`),
  ),
  ...['tput_per_gpu', 'output_tput_per_gpu', 'input_tput_per_gpu'],
];
const FIGURE = /^(mean|median|std|p\d+(\.\d+)?)_(ttft|tpot|itl|e2el|intvty)$/;

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    const notes = new ImportNotes();
    const value = await readJsonDocument(file, notes, context);
    if (!Array.isArray(value)) {
      yield runOf(value, null, notes);
      continue;
    }
    for (const [index, row] of (value as readonly unknown[]).entries())
      yield runOf(row, String(index), new ImportNotes());
  }
}

function runOf(value: unknown, part: string | null, notes: ImportNotes): ImportedRun {
  const fields = new Fields(value, notes);
  const model = fields.text('model');
  const concurrency = fields.count('conc');
  fields.ignore(...KNOWN, ...fields.names.filter((name) => FIGURE.test(name)));
  fields.noteUnread();
  notes.add('throughputs are per GPU and not imported: for those of the run import the result that was aggregated');
  notes.add('the file reports no counts of requests and no time');
  const measures = METRICS.flatMap((row) => {
    const found = benchStatistics(fields, row[0], 'seconds');
    return found === null ? [] : [statedDistribution(identityOf(row), asStated(found, null))];
  });
  const load = concurrency === null ? null : closedLoop(concurrency);
  const key = known({ model, load, streaming: true });
  return reportedRun({ part, tool: 'inferencex', format: 'inferencex-aggregate', key, stated: { measures }, notes });
}
