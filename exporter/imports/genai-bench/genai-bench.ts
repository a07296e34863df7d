import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields } from '../reading/fields.ts';
import { readJsonDocument } from '../reading/read-json-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { loadRun } from './load-run.ts';

/**
 * The experiments of genai-bench: a file per scenario and concurrency, each a run, next to `experiment_metadata.json`.
 */
export const GENAI_BENCH: Importer = { tool: 'genai-bench', recognize, group, read };

const RESULT = 'genai-bench-result';
const METADATA = 'genai-bench-metadata';

function recognize({ head: { keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (keys[0] === 'aggregated_metrics' || keys.includes('individual_request_metrics')) return { format: RESULT };
  const isMetadata = ['cmd', 'benchmark_version', 'api_backend'].every((key) => keys.includes(key));
  return isMetadata ? { format: METADATA } : null;
}

/** Each result is a separate group, with the metadata next to it; those of a folder are the steps of an experiment. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  return [...Map.groupBy(files, ({ file }) => file.folder)].flatMap(([folder, members]) => {
    const metadata = members.filter(({ recognition }) => recognition.format === METADATA);
    const results = members
      .filter(({ recognition }) => recognition.format === RESULT)
      .sort((a, b) => a.file.name.localeCompare(b.file.name, 'en', { numeric: true }));
    const hash = createHash('sha256');
    for (const { file } of results) hash.update(file.head.bytes);
    const group_id = results.length > 1 ? `${basename(folder)}-${hash.digest('hex').slice(0, 10)}` : null;
    return results.map((result, step) => ({
      files: [result, ...metadata],
      name: `${basename(folder)}/${result.file.name}`,
      group_id,
      step: group_id === null ? null : step,
      repeat: null,
    }));
  });
}

async function* read({ files }: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const [result, metadata] = [RESULT, METADATA].map((format) =>
    files.find(({ recognition }) => recognition.format === format),
  );
  if (result === undefined) return;
  const document = new Fields(await readJsonDocument(result.file, notes, context), notes);
  const facts =
    metadata === undefined ? null : new Fields(await readJsonDocument(metadata.file, notes, context), notes);
  yield loadRun(document, facts, notes);
}
