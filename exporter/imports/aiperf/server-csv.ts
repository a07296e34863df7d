import { csvRows } from '../reading/csv.ts';

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
export function serversOfCsv(text: string): { readonly metrics: Readonly<Record<string, unknown>> } {
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
      metric.series.push(seriesOf(row, section, of('buckets')));
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

function seriesOf(row: readonly string[], { columns, statistics, labels }: Section, buckets: string): unknown {
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
