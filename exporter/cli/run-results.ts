import { dirname, join } from 'node:path';
import { access } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { countOf, FAILED_OUTCOMES } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { sweepFigures } from '../../core/sweeps/sweep-figures.ts';
import { counted, quantity } from '../../core/text/quantities.ts';
import { RunNotStoredError } from '../errors/expected-error.ts';
import type { DepartingRun, PerformedRun } from '../run/perform-run.ts';
import type { ShardRequest, RunRequest } from '../run/run-request.ts';
import { requestedGrafanaLink } from './options/publish-options.ts';
import type { RunOptions } from './options/run-options.ts';
import { isQuiet } from './session.ts';
import { groupResult, type GroupRun } from './tables/group-table.ts';
import { resultTable } from './tables/result-table.ts';
import { writeMessage, printing } from './terminal-text.ts';
import { findServe } from '../store/recovery/serve-presence.ts';
import { factLines } from './tables/layout.ts';

/** Suffix of a shard's status: its figures cover only its part of the load. */
export const shardMark = ({ part, parts }: ShardRequest['share']): string =>
  `  shard ${part} of ${parts}: the figures cover only this part of the load`;

/** How the parts become one run; `shardDirectory` is the runs directory of this shard. */
export function mergeLine(runId: string, shardDirectory: string): string {
  const shards = dirname(shardDirectory);
  return `when all shards are in ${shards}, run: llmbench merge ${runId} --runs-dir ${dirname(shards)}`;
}

/**
 * Performs a run and keeps it with those that are reported at the end; also one that could not be stored, whose result needs
 * no disk. Throws what performing throws.
 */
export async function keptRun(
  runs: GroupRun[],
  request: RunRequest,
  perform: (request: RunRequest) => Promise<DepartingRun>,
): Promise<DepartingRun> {
  try {
    const departing = await perform(request);
    const { result, failure, path, notes } = departing;
    runs.push({ request, performed: { result, failure, path, notes } });
    return departing;
  } catch (error) {
    if (error instanceof RunNotStoredError) runs.push(notStored(request, error));
    throw error;
  }
}

function notStored(request: RunRequest, { result, message }: RunNotStoredError): GroupRun {
  return { request, performed: { result, failure: message, path: request.runsDirectory, notes: [] } };
}

/** How a run is shown. */
interface RunDisplay {
  /** It is one of several. */
  readonly isMember: boolean;
  /** The shards merge it themselves. */
  readonly isMerged: boolean;
  /** Shows a remark. */
  readonly note: (line: string) => void;
}

/** The run of a command: its whole result, or one line if it is one of several. */
export async function showRun(
  { result, failure, path, notes }: PerformedRun,
  { shard, runsDirectory }: RunRequest,
  options: RunOptions,
  { isMember, isMerged, note }: RunDisplay,
): Promise<void> {
  const quiet = isQuiet(options);
  const print = printing();
  if (!quiet && isMember) process.stdout.write(`${memberLine(result)}\n`);
  if (!quiet && !isMember) {
    const mark = shard === null ? '' : shardMark(shard.share);
    const head = `run         ${result.run_id}  ${print.paint(result.status)}${mark}`;
    const links = await linkLines(result, {
      path,
      runsDirectory,
      grafana: requestedGrafanaLink(options['grafana-url']),
    });
    process.stdout.write(`\n${head}\n${resultTable(result, print)}\n`);
    if (options['show-servers']) await (await import('./tables/server-table.ts')).printServers(path, print.width);
    process.stdout.write(`${links.join('\n')}\n`);
    if (shard !== null && !isMerged) process.stdout.write(`${mergeLine(result.run_id, runsDirectory)}\n`);
  }
  notes.forEach(note);
  if (failure !== null) writeMessage(process.stderr, `llmbench run: ${failure}`);
}

/** Final output: the JSON of one or several runs, or a table over several. */
export async function showRuns(runs: readonly GroupRun[], several: boolean, options: RunOptions): Promise<void> {
  const [only] = runs;
  if (only === undefined) return;
  if (options.json) {
    const shown = several ? groupResult(runs) : only.performed.result;
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else if (several) {
    const { showGroup } = await import('./show-group.ts');
    await showGroup(runs, options['runs-dir'], process.stdout.columns);
  }
}

/** A run of a group in one line: the table of the group follows at its end, `runs show RUN` has the rest. */
function memberLine(result: ResultFile): string {
  const { run_id, status, requests, slos, client } = result;
  const { output_token_throughput: tokens, time_to_first_token_p99: firstToken } = sweepFigures(result);
  const missed = slos.filter(({ verdict }) => verdict === 'not_met').length;
  const facts = [
    `${counted(requests.ok)} ok`,
    `${counted(countOf(requests, FAILED_OUTCOMES))} failed`,
    quantity(tokens?.value, 'tokens_per_second'),
    `TTFT p99 ${quantity(firstToken?.value, 'seconds')}`,
    ...(missed > 0 ? [`${missed} of ${slos.length} SLOs NOT MET`] : []),
    ...(client.verdict === 'saturated' ? ['client saturated'] : []),
  ];
  return `run         ${run_id}  ${status}\n            ${facts.join(' · ')}`;
}

const APP = 'a/llmbench-observability-app';
/** Time range before and after a run, as the app's own links have it. */
const MARGIN_MS = 15_000;

/**
 * Where a stored run can be looked at: its report, and its page in the Grafana of `grafana`, else of the `serve` that
 * watches the runs directory. `path`: the run's directory.
 */
export async function linkLines(
  result: ResultFile,
  { path, runsDirectory, grafana }: { path: string; runsDirectory: string; grafana: string | null },
): Promise<string[]> {
  // The run has ended and is stored: without a readable note of a `serve` only the link is missing.
  const address = grafana ?? (await findServe(runsDirectory).catch(() => null))?.grafana_url ?? null;
  const report = join(path, 'report.html');
  const hasReport = await access(report).then(
    () => true,
    () => false,
  );
  return [
    ...(address === null ? [] : factLines('Grafana', grafanaRunUrl(address, result))),
    ...(hasReport ? factLines('report', pathToFileURL(report).href) : []),
    ...factLines('directory', path),
  ];
}

/** The run's page in the app; `address`: where Grafana is, with the path that it is served below. */
export function grafanaRunUrl(address: string, { run_id: id, window }: Pick<ResultFile, 'run_id' | 'window'>): string {
  const url = new URL(`${address.replace(/\/+$/, '')}/${APP}/runs/${encodeURIComponent(id)}`);
  const { start, end } = window;
  if (start !== null && end !== null) {
    url.searchParams.set('from', String(Date.parse(start) - MARGIN_MS));
    url.searchParams.set('to', String(Date.parse(end) + MARGIN_MS));
  }
  return url.href;
}
