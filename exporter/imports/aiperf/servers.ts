import { systemsOfNames } from '../../../catalog/lookup.ts';
import { instantAt } from '../../../core/run/run.ts';
import type { ServerTarget } from '../../../core/run/result.ts';
import type { SeriesType, SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import type { ImportNotes } from '../import-notes.ts';
import { fileOf } from '../importer.ts';
import type { ImportedServers, MeasuredRequests, FileGroup, ImportContext } from '../importer.ts';
import { csvRows } from '../reading/csv.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { serversOfStores, type ReadTarget } from '../servers-of-stores.ts';
import { readGpuLines } from './gpu-lines.ts';
import { GPU_RECORDS, SERVERS_CSV, SERVERS_JSON, SERVERS_JSONL, SERVERS_PARQUET } from './recognize.ts';
import { AIPERF_INTERVAL_NS, type MetricFacts } from './scrape-page.ts';
import { targetName, readServerLines, readServerParquet } from './server-parquet.ts';

const STATISTIC = /^(avg|min|max|std|total|count|sum|p\d+(_estimate)?|rate(_(avg|min|max|std))?|(count|sum)_rate)$/;
const AFTER_LABELS: ReadonlySet<string> = new Set(['Description', 'buckets']);

interface Section {
  /** Where each column is, those before the statistics. */
  readonly columns: readonly string[];
  readonly statistics: readonly number[];
  readonly labels: readonly number[];
}

/**
 * `server_metrics_export.csv` in the form of the JSON: `metrics` by name, each with its series. The CSV has a section
 * for each type, with its statistics and labels in the columns.
 */
function serversOfCsv(text: string): { readonly metrics: Readonly<Record<string, unknown>> } {
  const metrics = new Map<string, { type: string; description: string; unit: string; series: unknown[] }>();
  let section: Section | null = null;
  for (const row of csvRows(text)) {
    if (row[0] === 'Endpoint') section = sectionOf(row);
    else if (section !== null && row.length === section.columns.length) {
      const of = (name: string): string => row[section?.columns.indexOf(name) ?? -1] ?? '';
      const metric = metrics.get(of('Metric')) ?? {
        type: of('Type'),
        description: of('Description'),
        unit: of('Unit'),
        series: [],
      };
      metrics.set(of('Metric'), metric);
      metric.series.push(seriesOfRow(row, section, of('buckets')));
    }
  }
  return { metrics: Object.fromEntries(metrics) };
}

/** A label may have the name of a statistic: statistics come first. */
function sectionOf(columns: readonly string[]): Section {
  const first = columns.indexOf('Unit') + 1;
  const after = columns.findIndex((name, i) => i >= first && !STATISTIC.test(name));
  const end = after < 0 ? columns.length : after;
  const places = [...columns.keys()];
  return {
    columns,
    statistics: places.slice(first, end),
    labels: places.slice(end).filter((i) => !AFTER_LABELS.has(columns[i] ?? '')),
  };
}

function seriesOfRow(row: readonly string[], { columns, statistics, labels }: Section, buckets: string): unknown {
  const reported = (places: readonly number[]): (readonly [name: string, text: string])[] =>
    places.flatMap((i) => (row[i] === '' ? [] : [[columns[i] ?? '', row[i] ?? ''] as const]));
  return {
    endpoint_url: row[0],
    labels: Object.fromEntries(reported(labels)),
    stats: Object.fromEntries(
      reported(statistics).flatMap(([name, value]) => (Number.isFinite(Number(value)) ? [[name, Number(value)]] : [])),
    ),
    ...(buckets !== '' && { buckets: bucketsOf(buckets) }),
  };
}

/** `0.5=3;+Inf=4`. */
function bucketsOf(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(';').flatMap((each) => {
      const [bound = '', count = ''] = each.split('=');
      return count !== '' && Number.isFinite(Number(count)) ? [[bound, Number(count)]] : [];
    }),
  );
}

const TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'unknown']);

/**
 * AIPerf's own statistics of the servers (`server_metrics_export.json`, or the CSV in its form), where no scrape is
 * kept: they are marked as AIPerf's. A file that does not report when the run was is of the run that the records
 * report of.
 */
function statedServers(
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

/**
 * What AIPerf's server metrics and GPU telemetry report, from the form that reports most: each scrape (JSONL, else Parquet), of
 * which our own statistics are made, else AIPerf's statistics (JSON, else CSV). `zero_ns` is the run's start, nanoseconds since
 * 1970; null when the run has no time. Null: there is nothing to report.
 */
export async function readAiperfServers(
  group: FileGroup,
  zero_ns: bigint | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<{ readonly servers: ImportedServers; readonly system: string | null } | null> {
  const [json, csv] = [fileOf(group, SERVERS_JSON), fileOf(group, SERVERS_CSV)];
  const [lines, parquet] = [fileOf(group, SERVERS_JSONL), fileOf(group, SERVERS_PARQUET)];
  const gpus = fileOf(group, GPU_RECORDS);
  if ([json, csv, lines, parquet, gpus].every((each) => each === null)) return null;
  const summary = await readSummary(json, csv, notes, context);
  const stated = (start: string | null): StatedServers | null =>
    summary === null ? null : statedServers(summary, start, notes);
  if (zero_ns === null) {
    if (lines !== null || parquet !== null || gpus !== null) {
      notes.add('samples of servers are left out: the time of the run is unknown without records');
    }
    return stated(null);
  }
  const targets = new Map<string, ReadTarget>();
  const facts = summary === null ? new Map<string, MetricFacts>() : metricFacts(summary);
  const add = (found: ReadonlyMap<string, ReadTarget>): void =>
    found.forEach((target, name) => targets.set(name, target));
  if (lines !== null) add(await readServerLines(lines, facts, zero_ns, notes, context));
  else if (parquet !== null) add(await readServerParquet(parquet, facts, zero_ns, notes));
  if (gpus !== null) add(await readGpuLines(gpus, zero_ns, notes, context));
  const servers = serversOfStores({ targets, zeroWall_ns: zero_ns, interval_ns: AIPERF_INTERVAL_NS, window: null });
  const system = [...targets.values()].find((target) => target.system !== null)?.system ?? null;
  if (lines !== null || parquet !== null) return { servers, system };
  const figures = stated(instantOf(zero_ns));
  if (figures === null) return targets.size === 0 ? null : { servers, system };
  return targets.size === 0 ? figures : { ...figures, servers: withGpus(figures.servers, servers) };
}

/** AIPerf's statistics of the servers, and ours of the samples of the GPUs. */
function withGpus(stated: ImportedServers, gpus: ImportedServers): ImportedServers {
  return {
    forRun(measured) {
      const [one, other] = [stated.forRun(measured), gpus.forRun(measured)];
      if (one === null || other === null) return one ?? other;
      const targets = [...one.result.targets, ...other.result.targets];
      return {
        result: { ...one.result, gpu_energy: other.result.gpu_energy, targets },
        file(runId) {
          const file = one.file(runId);
          return { ...file, targets, series: [...file.series, ...other.file(runId).series] };
        },
        writeSamples: other.writeSamples,
      };
    },
  };
}

type StatedServers = NonNullable<ReturnType<typeof statedServers>>;

const instantOf = (zero_ns: bigint): string => new Date(Number(zero_ns / 1_000_000n)).toISOString();

/** AIPerf's own statistics, from the CSV when they are nowhere else. */
async function readSummary(
  json: SourceFile | null,
  csv: SourceFile | null,
  notes: ImportNotes,
  context: ImportContext,
): Promise<Fields | null> {
  if (json !== null) return new Fields(await readJsonDocument(json, notes, context), notes, 'server metrics: ');
  if (csv === null) return null;
  notes.add('server values are from a CSV with four decimals');
  return new Fields(serversOfCsv(await readText(csv, context)), notes, 'server metrics: ');
}

function metricFacts(summary: Fields): Map<string, MetricFacts> {
  const metrics = summary.raw('metrics');
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return new Map(
    Object.entries(isObject(metrics) ? metrics : {}).flatMap(([name, metric]) =>
      isObject(metric) ? [[name, { type: text(metric['type']), description: text(metric['description']) }]] : [],
    ),
  );
}
