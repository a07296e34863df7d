import { systemsOfNames } from '../../../catalog/detect.ts';
import { instantAt } from '../../../core/run/instant.ts';
import type { ServerTarget } from '../../../core/run/result.ts';
import type { SeriesType, SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ImportedServers, MeasuredRequests } from '../importer.ts';
import { targetName } from './server-lines.ts';

const TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'unknown']);

/**
 * AIPerf's own statistics of the servers (`server_metrics_export.json`, or the CSV in its form), where no scrape is
 * kept: they are marked as AIPerf's. A file that does not report when the run was is of the run that the records
 * report of.
 */
export function statedServers(
  summary: Fields,
  start: string | null,
  notes: ImportNotes,
): { readonly servers: ImportedServers; readonly system: string | null } | null {
  const stated = windowOf(summary);
  if (stated === null && start === null) {
    notes.add(
      'server metrics are left out: the time of the run is unknown: there are no records, and their file has no summary.phase_time_ranges',
    );
    return null;
  }
  const series = [...seriesOf(summary, notes)];
  const targets = targetsOf(summary, series);
  const result = {
    exact: null,
    why: null,
    requests: null,
    gpu_energy: null,
    collector: { interval_seconds: INTERVAL_SECONDS, cpu_seconds: null, cpu_share: null },
    targets,
  };
  const fileOf =
    (window: ServersFile['window']) =>
    (runId: string): ServersFile => ({
      schema_version: 1,
      run_id: runId,
      definitions: 'aiperf',
      window,
      interval_seconds: INTERVAL_SECONDS,
      targets,
      series,
    });
  const system = systemsOfNames(new Set(series.map(({ family }) => family)))[0] ?? null;
  const forRun: ImportedServers['forRun'] = (measured) => {
    const window = stated ?? windowOfRecords(measured, start);
    return window === null ? null : { result, file: fileOf(window), writeSamples: null };
  };
  return { servers: { forRun }, system };
}

function windowOfRecords({ window }: MeasuredRequests, start: string | null): ServersFile['window'] | null {
  const [from, to] = [instantAt(start, window?.start_ns ?? NaN), instantAt(start, window?.end_ns ?? NaN)];
  if (window === null || from === null || to === null) return null;
  return { start: from, end: to, seconds: (window.end_ns - window.start_ns) / 1e9 };
}

const INTERVAL_SECONDS = 0.333;

function windowOf(summary: Fields): ServersFile['window'] | null {
  const range = summary.object('summary')?.object('phase_time_ranges')?.object('profiling') ?? null;
  const [start, end] = [range?.number('start_ns') ?? null, range?.number('end_ns') ?? null];
  if (start === null || end === null || end < start) return null;
  const instant = (at_ns: number): string => new Date(at_ns / 1e6).toISOString();
  return { start: instant(start), end: instant(end), seconds: (end - start) / 1e9 };
}

function* seriesOf(summary: Fields, notes: ImportNotes): Generator<SeriesSummary> {
  const metrics = summary.object('metrics');
  for (const name of metrics?.names ?? []) {
    const metric = metrics?.object(name) ?? null;
    for (const each of metric?.list('series') ?? []) {
      const one = new Fields(each, notes, `server metrics: ${name}.`);
      const target = targetName(one.raw('endpoint_url'));
      const stats = numbersOf(one.raw('stats'));
      if (metric === null || target === null || stats === null) continue;
      const buckets = numbersOf(one.raw('buckets'));
      yield {
        target,
        family: name,
        type: typeOf(metric.text('type')),
        unit: metric.text('unit'),
        per: null,
        description: metric.text('description'),
        labels: textsOf(one.raw('labels')),
        repeats: null,
        no_values: 0,
        statistics: { kind: 'aiperf', stats, buckets: buckets === null ? null : Object.entries(buckets) },
        slices: null,
      };
    }
  }
}

function typeOf(text: string | null): SeriesType {
  return text !== null && TYPES.has(text) ? (text as SeriesType) : 'unknown';
}

function numbersOf(value: unknown): Record<string, number> | null {
  if (!isObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([name, text]) => [name, String(text)]));
}

function targetsOf(summary: Fields, series: readonly SeriesSummary[]): ServerTarget[] {
  const info = summary.object('summary')?.object('endpoint_info') ?? null;
  return [...new Set(series.map(({ target }) => target))].map((target) => {
    const key = info?.names.find((url) => targetName(url) === target);
    const about = key === undefined ? null : (info?.object(key) ?? null);
    const names = series.filter((each) => each.target === target).map(({ family }) => family);
    return {
      target,
      system: systemsOfNames(new Set(names))[0] ?? null,
      state: 'up',
      scrapes: about?.count('total_fetches') ?? 0,
      failed_scrapes: 0,
      skipped_scrapes: 0,
      scrape_duration_seconds: { p50: null, p99: null },
      restarts: 0,
      dropped_series: 0,
      dropped_samples: 0,
      notes: ["AIPerf's statistics: births of series within the run and resets are lost in them"],
    };
  });
}
