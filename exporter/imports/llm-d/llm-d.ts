import type { FileGroup, ImportContext, ImportedRun, Importer, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { groupReports } from '../reading/group-reports.ts';
import { readJsonDocument } from '../reading/read-json-document.ts';
import { readYamlDocument } from '../reading/read-yaml-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { reportRun } from './benchmark-report.ts';

/** The benchmark reports of llm-d-benchmark, versions 0.1 and 0.2, in YAML or JSON; each is a run. */
export const LLM_D: Importer = { tool: 'llm-d-benchmark', recognize, group: groupReports, read };

/** 0.2: `run` and `results`; 0.1: `metrics` and `scenario`, sorted or not. */
function recognize({ head: { text, keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  const names = keys.length > 0 ? keys : Array.from(text.matchAll(/^(\w+):/gm), ([, name]) => name ?? '');
  const has = (name: string): boolean => names.includes(name);
  const isLater = has('run') && /\buid"?\s*:/.test(text) && /\b(request|session)_performance"?\s*:/.test(text);
  const isEarlier = has('metrics') && /\btime_to_first_token"?\s*:/.test(text) && /\bunits"?\s*:/.test(text);
  return isLater || isEarlier ? { format: 'llm-d-benchmark-report' } : null;
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    const isJson = file.head.text.trimStart().startsWith('{');
    const value = isJson
      ? await readJsonDocument(file, new ImportNotes(), context)
      : await readYamlDocument(file, context);
    yield reportRun(value, file.name);
  }
}
