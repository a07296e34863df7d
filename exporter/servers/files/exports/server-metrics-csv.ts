import { AIPERF_PERCENTILES } from '../../summary/aiperf-statistics.ts';
import type { Collection } from '../../collection.ts';
import { aiperfFamilies, type AiperfFamily, type AiperfSeries } from './aiperf-view.ts';
import type { ExportInfo } from './export-info.ts';

const PERCENTILES = AIPERF_PERCENTILES.map((p) => `p${p}`);
const GAUGE = ['avg', 'min', 'max', 'std', ...PERCENTILES];
const COUNTER = ['total', 'rate', 'rate_avg', 'rate_min', 'rate_max', 'rate_std'];
const HISTOGRAM = ['count', 'count_rate', 'sum', 'sum_rate', 'avg', ...PERCENTILES.map((name) => `${name}_estimate`)];

/** Statistics that are whole numbers; all others get four decimals. */
const COUNTS: ReadonlySet<string> = new Set(['count']);

interface CsvRow extends AiperfSeries {
  readonly family: AiperfFamily;
}

/**
 * `server_metrics_export.csv` in AIPerf's form (schema 1.0): one section per type, separated by blank lines; rows end
 * in CR LF. A text cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
 */
export function serverMetricsCsv(collection: Collection, { tool, id }: ExportInfo): string {
  const families = aiperfFamilies(collection);
  const rows = families.flatMap((family) => family.series.map((each): CsvRow => ({ ...each, family })));
  const isInfo = ({ family }: CsvRow): boolean => family.name.endsWith('_info');
  const of = (type: AiperfFamily['type']): CsvRow[] => rows.filter((row) => row.family.type === type && !isInfo(row));
  const preamble = [
    '# AIPerf Server Metrics Export (CSV)',
    `# aiperf_version: ${tool}`,
    '# schema_version: 1.0',
    `# benchmark_id: ${id}`,
    `# statistics_definitions: ${collection.definitions}`,
    '#',
  ].map((line) => `${line.replace(/[\r\n]/g, ' ')}\n`);
  const sections = [
    section(of('gauge'), GAUGE),
    section(of('counter'), COUNTER),
    section(of('histogram'), HISTOGRAM),
    section(of('unknown'), GAUGE),
    infoSection(rows.filter(isInfo)),
  ].filter((lines) => lines.length > 0);
  const body = sections.map((lines) => lines.map((line) => `${line}\r\n`).join(''));
  return `${preamble.join('')}${body.join('\r\n')}`;
}

function section(rows: readonly CsvRow[], statistics: readonly string[]): string[] {
  if (rows.length === 0) return [];
  const labels = [...new Set(rows.flatMap(({ series }) => Object.keys(series.labels)))].sort();
  const buckets = rows[0]?.family.type === 'histogram' ? ['buckets'] : [];
  const head = ['Endpoint', 'Type', 'Metric', 'Unit', ...statistics, ...labels, 'Description', ...buckets];
  return [line(head), ...rows.map((row) => line(cells(row, statistics, labels, buckets.length > 0)))];
}

function cells(
  { family, target, series, statistics }: CsvRow,
  names: readonly string[],
  labels: readonly string[],
  withBuckets: boolean,
): string[] {
  return [
    new URL(target.name).host,
    family.type,
    cell(family.name),
    family.unit ?? '',
    ...names.map((name) => number(name, statistics.stats[name])),
    ...labels.map((label) => cell(series.labels[label] ?? '')),
    cell(family.description),
    ...(withBuckets ? [(statistics.buckets ?? []).map(([le, count]) => `${le}=${count}`).join(';')] : []),
  ];
}

function infoSection(rows: readonly CsvRow[]): string[] {
  const lines = rows.flatMap(({ family, target, series }) =>
    Object.entries(series.labels).map(([key, value]) =>
      line([new URL(target.name).host, cell(family.name), cell(key), cell(value), cell(family.description)]),
    ),
  );
  return lines.length === 0 ? [] : [line(['Endpoint', 'Metric', 'Key', 'Value', 'Description']), ...lines];
}

function number(name: string, value: number | undefined): string {
  if (value === undefined) return '';
  return COUNTS.has(name) ? String(value) : value.toFixed(4);
}

/** Text from a page, which is not trusted. */
function cell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function line(texts: readonly string[]): string {
  return texts.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',');
}
