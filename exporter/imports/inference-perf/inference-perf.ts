import { basename } from 'node:path';
import { ALONE, byNumber, groupIdOf } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields } from '../reading/fields.ts';
import { readJsonDocument, readYamlDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { reportRun } from '../llm-d/llm-d.ts';
import { beginsWithRequest, recordsOfStages, stageRun, type StageRecords } from './stage-run.ts';

/** The reports of inference-perf, each stage of the load a run; with `per_request` also their records. */
export const INFERENCE_PERF: Importer = {
  tool: 'inference-perf',
  recognize,
  group,
  // The first for which stage a request belongs to.
  passes: 2,
  read,
};

const STAGE = 'inference-perf-stage';
const REQUESTS = 'inference-perf-requests';
const CONFIG = 'inference-perf-config';
const PART = 'inference-perf-report-part';

/** `PREFIXstage_3_lifecycle_metrics.json`, `PREFIXsummary_…`, `inference-perf.partial.stage_3.yaml`. */
const STAGE_NAME = /^(.*?)stage_(\d+)_lifecycle_metrics\.json$/;
const SUMMARY_NAME = /summary_lifecycle_metrics\.json$/;
const PART_NAME = /partial\.stage_(\d+)\.yaml$/;

const passedOver = (ignored: string): Recognition => ({ format: 'inference-perf-other', ignored });

function recognize({ head: { keys, text }, name }: SourceFile): Recognition | null {
  if (beginsWithRequest(text)) return { format: REQUESTS };
  const isReport = ['load_summary', 'successes', 'failures'].every((key) => keys.includes(key));
  if (isReport && /prometheus_metrics\.json$/.test(name)) return passedOver('averages of server metrics');
  if (isReport && /adapter_.*_lifecycle_metrics\.json$/.test(name)) return passedOver('a part of a stage');
  if (isReport) return { format: STAGE };
  if (/session_lifecycle_metrics\.json$/.test(name)) return passedOver('sessions, not requests');
  if (name === 'validation.json' && /"(warnings|errors)"\s*:/.test(text)) return passedOver('checks of the reports');
  if (PART_NAME.test(name) && /^run:/m.test(text)) return { format: PART };
  const isConfig = ['api', 'data', 'load', 'server', 'report'].every((key) => new RegExp(`^${key}:`, 'm').test(text));
  return isConfig && /^ {2}base_url:/m.test(text) ? { format: CONFIG } : null;
}

/** The files of a folder belong together. The summary repeats the stages, and is read only without them. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  return [...Map.groupBy(files, ({ file }) => file.folder)].flatMap(([folder, members]) => {
    const of = (format: string): RecognizedFile[] => members.filter(({ recognition }) => recognition.format === format);
    const stages = of(STAGE).filter(({ file }) => STAGE_NAME.test(file.name));
    const reports = stages.length > 0 ? stages : of(STAGE);
    const [main] = reports.length > 0 ? reports : [...of(REQUESTS), ...of(PART)];
    if (main === undefined) return [];
    const used = [
      ...reports.sort((a, b) => byNumber(a.file.name, b.file.name)),
      ...of(REQUESTS),
      ...of(CONFIG),
      ...of(PART),
    ];
    const group_id = reports.length > 1 ? groupIdOf(folder, used) : null;
    return [{ ...ALONE, files: used, name: basename(folder), group_id }];
  });
}

async function* read({ files, group_id }: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const of = (format: string): SourceFile[] =>
    files.filter(({ recognition }) => recognition.format === format).map(({ file }) => file);
  const [configFile] = of(CONFIG);
  const notes = new ImportNotes();
  const config = configFile === undefined ? null : new Fields(await readYamlDocument(configFile, context), notes);
  const reports: Fields[] = [];
  for (const file of of(STAGE)) reports.push(new Fields(await readJsonDocument(file, notes, context), notes));
  const [requests] = of(REQUESTS);
  if (reports.length === 0 && requests === undefined) {
    for (const file of of(PART)) yield reportRun(await readYamlDocument(file, context), file.name, context);
    return;
  }
  const sizes = reports.map((report) => ({
    requests: report.at('load_summary').count('count'),
    seconds: report.amount('benchmark_time_seconds'),
  }));
  const stages = sizes.length > 0 ? sizes : [{ requests: null, seconds: null }];
  const records: readonly StageRecords[] | null =
    requests === undefined ? null : await recordsOfStages(requests, stages, notes, context);
  const starts = await startsOf(of(PART), context);
  for (const index of stages.keys()) {
    const name = of(STAGE)[index]?.name ?? '';
    const stage = STAGE_NAME.exec(name)?.[2];
    const own = notes.copy();
    if (stages.length === 1 && SUMMARY_NAME.test(name))
      own.add('the report is the summary of all stages: its figures mix their loads');
    const number = stage === undefined ? null : Number(stage);
    yield {
      ...stageRun(
        {
          report: reports[index] ?? null,
          config,
          records: records?.[index] ?? null,
          stage: number,
          // A part reports when its stage began; without stages the first of them is the run's.
          start: starts.get(number ?? 0) ?? null,
        },
        own,
      ),
      part: stages.length === 1 ? null : `stage ${number ?? index}`,
      placement: { group_id, step: group_id === null ? null : (number ?? index), repeat: null },
    };
  }
}

/** When the stages began, by their number, from the parts of a benchmark report that inference-perf writes from 0.7 on. */
async function startsOf(parts: readonly SourceFile[], context: ImportContext): Promise<ReadonlyMap<number, string>> {
  const starts = new Map<number, string>();
  for (const file of parts) {
    const report = new Fields(await readYamlDocument(file, context), new ImportNotes());
    const start = Date.parse(report.at('run').at('time').text('start') ?? '');
    const stage = PART_NAME.exec(file.name)?.[1];
    if (stage !== undefined && !Number.isNaN(start)) starts.set(Number(stage), new Date(start).toISOString());
  }
  return starts;
}
