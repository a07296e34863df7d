import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ResultFile } from '../../core/run/result.ts';
import { findServe } from '../store/recovery/serve-presence.ts';
import { factLines } from './tables/layout.ts';

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
