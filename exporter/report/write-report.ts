import { join } from 'node:path';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { replaceFile, type TemporaryFor } from '../files/durable-file.ts';
import { reasonOf } from '../errors/expected-error.ts';
import type { ReportData } from './report-data.ts';
import { RequestViewBuilder } from './request-view.ts';
import type { RequestView } from './request-view.ts';
import { serverSignals, signalNames, type ServerSample } from './server-signals.ts';
import { timeBins } from './time-bins.ts';
import { documentOf } from './document.ts';
import { html } from './html.ts';
import { runTitle } from './words.ts';
import { configuration, header, tiles } from './sections/header.ts';
import { distributions } from './sections/distributions.ts';
import { errors, measures, objectives, scalars, stageSection } from './sections/measures.ts';
import { serverSection } from './sections/servers.ts';
import { timeline } from './sections/timeline.ts';
import type { SeriesSummary } from '../../core/run/servers-file.ts';
import { readServersFile, readServersParquet } from '../store/read-servers.ts';

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
  const files = await readServers(folder, run.start).catch((error: unknown) => {
    notes.push(`The collected server metrics cannot be read: ${reasonOf(error)}.`);
    return null;
  });
  const path = join(folder, REPORT_FILE);
  const page = reportPage({ run, result, requests, servers: servers(files, requests, result), notes });
  await replaceFile(path, page, temporaryFor);
  return path;
}

/** The view of a run's records; null if there are none. Throws if they cannot be read. */
export async function viewOfRecords(records: AsyncIterable<RequestRecord>): Promise<RequestView | null> {
  const builder = new RequestViewBuilder();
  for await (const record of records) builder.add(record);
  return builder.view();
}

function servers(files: ServerFiles | null, requests: RequestView | null, result: ResultFile): ReportData['servers'] {
  if (files === null) return null;
  const bins = requests?.bins ?? timeBins(result.window.seconds ?? 0);
  return { signals: serverSignals(files.samples, bins, files.intervalSeconds), series: files.series };
}

/** The report of a run as one self-contained HTML page. */
export function reportPage(data: ReportData): string {
  const { run, result } = data;
  return documentOf(
    `${runTitle(run)} · ${run.run_id}`,
    html`${header(data)} ${tiles(result)} ${objectives(result)} ${stageSection(result)} ${distributions(data)}
      ${timeline(data)} ${errors(result)} ${serverSection(data)} ${measures(result)} ${scalars(result)}
      ${configuration(data)}
      <footer>
        ${run.tool.name} ${run.tool.version} · generated from run.json, result.json and the records of run ${run.run_id}
        · contains no prompts or responses
      </footer>`,
  );
}

/** The server metrics in a run directory. */
interface ServerFiles {
  readonly intervalSeconds: number;
  readonly series: readonly SeriesSummary[];
  readonly samples: readonly ServerSample[];
}

/**
 * Null if no server metrics were collected. `start` is the wall time of the run's zero. Throws if a file is damaged.
 */
async function readServers(folder: string, start: string | null): Promise<ServerFiles | null> {
  const file = start === null ? null : await readServersFile(folder);
  if (file === null || start === null) return null;
  const repeated = new Set(file.series.filter(({ repeats }) => repeats !== null).map(keyOf));
  const samples = await readSamples(folder, start);
  return {
    intervalSeconds: file.interval_seconds,
    series: file.series,
    samples: samples.filter(({ target, name, labels }) => !repeated.has(JSON.stringify([target, name, labels]))),
  };
}

const keyOf = ({ target, family, labels }: SeriesSummary): string =>
  JSON.stringify([target, family, JSON.stringify(labels)]);

async function readSamples(folder: string, start: string): Promise<ServerSample[]> {
  const start_ns = BigInt(Date.parse(start)) * 1_000_000n;
  const wanted = signalNames();
  const samples: ServerSample[] = [];
  for await (const rows of (await readServersParquet(folder)) ?? []) {
    for (const { target, name, labels, time_ns, value } of rows) {
      if (wanted.has(name)) {
        samples.push({ target, name, labels, at_seconds: Number(time_ns - start_ns) / 1e9, value });
      }
    }
  }
  return samples;
}
