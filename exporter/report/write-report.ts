import { join } from 'node:path';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, type TemporaryFor } from '../files/durable-file.ts';
import { reasonOf } from '../errors/expected-error.ts';
import type { RecordGroup } from '../store/records/read-records.ts';
import { type ReportData, readReportServers } from './report-data.ts';
import { RequestViewBuilder } from './request-view.ts';
import type { RequestView } from './request-view.ts';
import { documentOf } from './document.ts';
import { html } from './html.ts';
import { runTitle } from './words.ts';
import { configuration, header, tiles } from './sections/header.ts';
import { distributions } from './sections/distributions.ts';
import {
  errors,
  loadFitSection,
  measures,
  modelSection,
  objectives,
  prefixCacheSection,
  speculationSection,
  scalars,
  stageSection,
  turnSection,
} from './sections/measures.ts';
import { serverSection } from './sections/servers.ts';
import { timeline } from './sections/timeline.ts';

export const REPORT_FILE = 'report.html';

/**
 * Writes report.html into the folder of a run that has its result. `view` is the view of its records, null if there are
 * none. Unreadable records or server files are reported in the report, which shows the rest. Returns the path; throws
 * the file system's error.
 */
export async function writeReport(
  folder: string,
  run: RunFile,
  result: ResultFile,
  view: () => Promise<RequestView | null>,
  temporaryFor?: TemporaryFor,
): Promise<string> {
  const notes: string[] = [];
  const requests = await view().catch((error: unknown) => {
    notes.push(`The records cannot be read, so charts of them are missing: ${reasonOf(error)}.`);
    return null;
  });
  const servers = await readReportServers(folder, run.start).catch((error: unknown) => {
    notes.push(`The collected server metrics cannot be read: ${reasonOf(error)}.`);
    return null;
  });
  const path = join(folder, REPORT_FILE);
  const page = reportPage({ run, result, requests, servers, notes });
  await replaceFile(path, page, temporaryFor);
  return path;
}

/** The view of a run's records, of which it takes `VIEW_FIELDS`; null if there are none. Throws if they cannot be read. */
export async function viewOfRecords(groups: AsyncIterable<RecordGroup>): Promise<RequestView | null> {
  const builder = new RequestViewBuilder();
  for await (const group of groups) for (let row = 0; row < group.length; row++) builder.add(group.at(row));
  return builder.view();
}

/** The report of a run as one self-contained HTML page. */
export function reportPage(data: ReportData): string {
  const { run, result } = data;
  return documentOf(
    `${runTitle(run)} · ${run.run_id}`,
    html`${header(data)} ${tiles(result)} ${objectives(result)} ${stageSection(result)} ${turnSection(result)}
      ${modelSection(result)} ${distributions(data)} ${timeline(data)} ${errors(result)} ${prefixCacheSection(result)}
      ${speculationSection(result)} ${loadFitSection(result, run)} ${serverSection(data)} ${measures(result)}
      ${scalars(result)} ${configuration(data)}
      <footer>
        ${run.tool.name} ${run.tool.version} · generated from run.json, result.json and the records of run ${run.run_id}
        · contains no prompts or responses
      </footer>`,
  );
}
