import {
  groupReports,
  type FileGroup,
  type ImportContext,
  type ImportedRun,
  type Importer,
  type RecognizedFile,
  type Recognition,
} from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { readJsonDocument, readYamlDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { reportRun } from './benchmark-report.ts';

/** The benchmark reports of llm-d-benchmark, versions 0.1 and 0.2, in YAML or JSON; each is a run. */
export const LLM_D: Importer = { tool: 'llm-d-benchmark', recognize, conversionOf, group, read };

/** 0.2: `run` and `results`; 0.1: `metrics` and `scenario`, sorted or not. */
/** `benchmark_report_v0.2,_stage_0_lifecycle_metrics.json.yaml`: the version, and the result that was converted. */
const REPORT_NAME = /^benchmark_report(?:_v([\d.]+))?(?:,_(.+))?\.(?:ya?ml|json)$/;

function recognize({ head: { text, keys }, name }: Pick<SourceFile, 'head' | 'name'>): Recognition | null {
  const names = keys.length > 0 ? keys : Array.from(text.matchAll(/^(\w+):/gm), ([, name]) => name ?? '');
  const has = (name: string): boolean => names.includes(name);
  const isLater = has('run') && /\buid"?\s*:/.test(text) && /\b(request|session)_performance"?\s*:/.test(text);
  const isEarlier = has('metrics') && /\btime_to_first_token"?\s*:/.test(text) && /\bunits"?\s*:/.test(text);
  if (!isLater && !isEarlier) return null;
  const isOfSessions = /_session_lifecycle_metrics\.json\.ya?ml$/.test(name);
  return { format: 'llm-d-benchmark-report', ...(isOfSessions && { ignored: 'sessions, not requests' }) };
}

function conversionOf({ name }: SourceFile): string | null {
  return REPORT_NAME.exec(name)?.[2] ?? null;
}

/** Of the reports of one result, which are written in each version, the latest. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const versions = Map.groupBy(files, ({ file: { folder, name } }) => {
    const named = REPORT_NAME.exec(name);
    return `${folder}\0${named === null ? name : `benchmark_report,${named[2] ?? ''}`}`;
  });
  const versionOf = ({ file }: RecognizedFile): string => REPORT_NAME.exec(file.name)?.[1] ?? '';
  const latest = [...versions.values()].flatMap((reports) => {
    const version = reports.map(versionOf).sort(byNumber).at(-1);
    return reports.filter((each) => versionOf(each) === version);
  });
  return groupReports(latest);
}

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    const isJson = file.head.text.trimStart().startsWith('{');
    const value = isJson
      ? await readJsonDocument(file, new ImportNotes(), context)
      : await readYamlDocument(file, context);
    yield reportRun(value, file.name, context);
  }
}
