import type { SeriesSummary, ServersFile, HistogramStatistics } from '../../../core/run/servers-file.ts';
import { ABSENT, quantity, significant, things } from '../../../core/text/quantities.ts';
import { targetLine } from './server-lines.ts';

/** Families of the summary table; the files have all of them. */
const SHOWN =
  /first_token|inter_token|per_output_token|latency_seconds|request_duration|queue_time|requests?(_success)?_total|_tokens_total|num_requests|running_reqs|queue_reqs|inflight_requests|cache_usage|token_usage|hit_rate|preemptions|request_success|inference_count|power_usage|gpu_util/i;
const MAX_PER_KIND = 14;
const MAX_NAME = 100;

/** One table per target: histograms, counters that moved and gauges, each series on a line. */
export function serverTables({ targets, series }: ServersFile): string {
  return targets
    .map((target) => {
      const all = series.filter((each) => each.target === target.target && each.repeats === null);
      const own = named(all).filter(({ family }) => SHOWN.test(family));
      const tables = [...histograms(own), ...counters(own), ...gauges(own)];
      const inFiles = series.filter((each) => each.target === target.target).length;
      const untold = tables.length === 0 && inFiles > 0 ? [`  ${inFiles} series in the files`] : [];
      return [targetLine(target), ...target.notes.map((note) => `  ${plain(note)}`), ...untold, ...tables].join('\n');
    })
    .join('\n\n');
}

export interface NamedSeries extends SeriesSummary {
  /** The family, with those of its labels that distinguish its series. */
  readonly name: string;
}

export function named(all: readonly SeriesSummary[]): NamedSeries[] {
  const byFamily = new Map<string, SeriesSummary[]>();
  for (const each of all) {
    const same = byFamily.get(each.family);
    if (same === undefined) byFamily.set(each.family, [each]);
    else same.push(each);
  }
  const distinguishing = new Map(Array.from(byFamily, ([family, same]) => [family, differingLabels(same)]));
  return all.map((each) => ({ ...each, name: nameOf(each, distinguishing.get(each.family) ?? []) }));
}

/** Labels that distinguish a family's series, in the order of the page; one that only says the same again is left out. */
function differingLabels(series: readonly SeriesSummary[]): string[] {
  const distinguishing: string[] = [];
  let kinds = 1;
  for (const label of new Set(series.flatMap((each) => Object.keys(each.labels)))) {
    const values = ({ labels }: SeriesSummary): string =>
      JSON.stringify([...distinguishing, label].map((each) => labels[each] ?? null));
    const found = new Set(series.map(values)).size;
    if (found > kinds) distinguishing.push(label);
    kinds = Math.max(kinds, found);
  }
  return distinguishing;
}

function histograms(series: readonly NamedSeries[]): string[] {
  return table(
    ['histogram', 'count', 'mean', 'p50', 'p90', 'p99', 'p99 within'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (statistics?.kind === 'aiperf' && 'count' in statistics.stats) {
        const { count = 0, avg, p50_estimate: p50, p90_estimate: p90, p99_estimate: p99 } = statistics.stats;
        const cells = [avg, p50, p90, p99].map((value) => inUnit(value ?? null, unit));
        return [[each.name, significant(count), ...cells, ABSENT]];
      }
      if (statistics?.kind !== 'histogram' || statistics.count === null || statistics.count === 0) return [];
      const { p50, p90, p99 } = statistics.percentiles ?? {};
      const cells = [inUnit(statistics.mean, unit), ...[p50, p90, p99].map((each) => estimate(each, unit))];
      const within = p99 === undefined ? null : boundsOf(p99);
      const [low, high] = within ?? [null, null];
      const interval = within === null ? ABSENT : `${inUnit(low, unit)} to ${high === null ? '∞' : inUnit(high, unit)}`;
      return [[each.name, significant(statistics.count), ...cells, interval]];
    }),
  );
}

function counters(series: readonly NamedSeries[]): string[] {
  return table(
    ['counter', 'increase', 'per second'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (statistics?.kind === 'aiperf' && 'total' in statistics.stats) {
        const { total = 0, rate } = statistics.stats;
        return total === 0 ? [] : [[each.name, inUnit(total, unit), rate === undefined ? ABSENT : significant(rate)]];
      }
      if (statistics?.kind !== 'counter' || statistics.increase === 0) return [];
      const { increase, rate_per_second: rate } = statistics;
      return [[each.name, inUnit(increase, unit), rate === null ? ABSENT : significant(rate)]];
    }),
  );
}

function gauges(series: readonly NamedSeries[]): string[] {
  return table(
    ['gauge', 'mean', 'min', 'max'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (each.type !== 'gauge' || statistics === null) return [];
      if (statistics.kind === 'gauge')
        return [[each.name, ...[statistics.mean, statistics.min, statistics.max].map((value) => inUnit(value, unit))]];
      if (statistics.kind !== 'aiperf') return [];
      const { avg, min, max } = statistics.stats;
      return [[each.name, ...[avg, min, max].map((value) => inUnit(value ?? null, unit))]];
    }),
  );
}

function nameOf({ family, labels }: SeriesSummary, distinguishing: readonly string[]): string {
  const pairs = distinguishing.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`]));
  const text = plain(pairs.length === 0 ? family : `${family}{${pairs.join(',')}}`);
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text;
}

/** Labels and responses come from the page: control characters are escaped. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
}

export type ServerPercentile = NonNullable<HistogramStatistics['percentiles']>['p99'];

export const boundsOf = ({ bounds, bounds_by_sum: bySum }: ServerPercentile): ServerPercentile['bounds'] =>
  bySum ?? bounds;

/** The estimate; where it is outside of its own bounds, which the sum can narrow, the bound it went past: `≤ 1.20 s`. */
export function estimate(percentile: ServerPercentile | undefined, unit: string | null): string {
  const value = percentile?.estimate ?? null;
  if (percentile === undefined || value === null) return ABSENT;
  const [low, high] = boundsOf(percentile) ?? [null, null];
  // The sum can leave one value only.
  if (high !== null && low === high) return inUnit(high, unit);
  if (high !== null && value > high) return `≤ ${inUnit(high, unit)}`;
  if (low !== null && value < low) return `> ${inUnit(low, unit)}`;
  return inUnit(value, unit);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const kept = [head, ...rows.slice(0, MAX_PER_KIND)];
  const widths = head.map((_, column) => Math.max(...kept.map((row) => row[column]?.length ?? 0)));
  const lines = kept.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const more = rows.length > MAX_PER_KIND ? [`… and ${rows.length - MAX_PER_KIND} more in the files`] : [];
  return ['', ...lines.map((line) => `  ${line.trimEnd()}`), ...more.map((line) => `  ${line}`)];
}

/** A value in the unit of its family; null without a value. */
export function inUnit(value: number | null, unit: string | null): string {
  if (value === null) return ABSENT;
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return things(value, unit === null || unit === 'count' ? '' : unit).trimEnd();
}
