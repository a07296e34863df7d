import { Fields } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, KnownKey } from '../importer.ts';
import { readJsonDocument } from '../reading/read-json-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { checkConsistency } from './consistency.ts';
import { groupTrtllm } from './group.ts';
import { iterationMeasures } from './iteration-log.ts';
import { checkReport, reportMeasures, requestMeasures } from './measures.ts';
import { ITERATIONS, recognizeTrtllm, REPORT, REQUESTS } from './recognize.ts';
import { engineRecords, engineRequests } from './requests.ts';
import type { EngineRequest } from './requests.ts';

/** `trtllm-bench` with `--report_json`, `--request_json` and `--iteration_log`. */
export const TRTLLM: Importer = { tool: 'trtllm-bench', recognize: recognizeTrtllm, group: groupTrtllm, read };

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const fileOf = (format: string): SourceFile | null =>
    group.files.find(({ recognition }) => recognition.format === format)?.file ?? null;
  const notes = new ImportNotes();
  const reportFile = fileOf(REPORT);
  const requestFile = fileOf(REQUESTS);
  const iterationFile = fileOf(ITERATIONS);
  if (reportFile === null && requestFile === null) {
    throw new ImportRefusal('these are the iterations of an engine without a result: import its --report_json too');
  }
  const document = reportFile === null ? {} : await readJsonDocument(reportFile, notes, context);
  const requests =
    requestFile === null ? [] : engineRequests(await readJsonDocument(requestFile, notes, context), notes);
  const iterations = iterationFile === null ? [] : await iterationMeasures(iterationFile, notes, context);
  yield runOf(new Fields(document, notes), reportFile !== null, requests, iterations, notes);
}

function runOf(
  report: Fields,
  hasReport: boolean,
  requests: readonly EngineRequest[],
  iterations: ImportedRun['stated']['measures'],
  notes: ImportNotes,
): ImportedRun {
  const counted = report.object('request_info')?.count('num_requests') ?? null;
  const finished = requests.filter(({ failed }) => !failed).length;
  // Fewer requests than the report counts are a sample, or those of another run: the figures are those of the report.
  const listed = requests.length > 0 && requests.length >= (counted ?? 0);
  if (listed) checkReport(report, requests, notes);
  checkConsistency(report, notes);
  const exact = listed ? requestMeasures(requests) : [];
  const replaced = new Set(exact.map(({ measure }) => measure));
  const reported = reportMeasures(report, counted).filter(({ measure }) => !replaced.has(measure));
  const version = report.object('engine')?.text('version') ?? null;
  const total_ms = report.object('performance')?.amount('total_latency_ms') ?? null;
  notes.add(
    'measured inside the process of the engine, without HTTP: its latencies are compared only with latencies measured the same way',
  );
  notes.add('the tool keeps no time of day: the run has no start time');
  report.ignore('machine', 'dataset');
  report.noteUnread();
  return {
    part: null,
    tool: { name: 'trtllm-bench', version },
    format: { name: hasReport ? REPORT : REQUESTS, schema_version: null },
    scenario: null,
    target: { origin: null, system: 'trtllm', system_version: version },
    key: keyOf(report, hasReport, listed ? requests.length : counted),
    status: 'completed',
    failure: null,
    start: null,
    records: requests.length > 0 ? engineRecords(requests) : null,
    stated: {
      window_seconds: listed || total_ms === null ? null : total_ms / 1000,
      // A request that fails ends the whole benchmark without a report.
      requests: listed
        ? { ok: finished, error: requests.length - finished, timeout: 0, cancelled: 0 }
        : { ok: counted, error: null, timeout: null, cancelled: null },
      errors: {},
      measures: [...exact, ...reported, ...iterations],
    },
    servers: null,
    notes,
  };
}

function keyOf(report: Fields, hasReport: boolean, requests: number | null): KnownKey {
  const model = report.object('engine')?.text('model') ?? null;
  return {
    ...(model !== null && { model }),
    ...(hasReport && { streaming: report.has('streaming_metrics') }),
    stop: { request_count: requests, benchmark_duration_seconds: null },
  };
}
