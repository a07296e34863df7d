import type { SeriesSummary, ServersFile } from '../servers/servers-file.ts';
import { ABSENT, quantity, significant } from '../../core/measures/quantities.ts';

/** Families that tell how a server fared; the files have all of them. */
const TOLD =
  /first_token|inter_token|per_output_token|latency_seconds|request_duration|queue_time|requests?(_success)?_total|_tokens_total|num_requests|running_reqs|queue_reqs|inflight_requests|cache_usage|token_usage|hit_rate|preemptions|request_success|inference_count|power_usage|gpu_util/i;
const MOST_PER_KIND = 14;

/** One table per target: histograms, counters that moved and gauges, each series on a line. */
export function serverTables({ targets, series }: ServersFile): string {
  return targets
    .map((target) => {
      const { p50, p99 } = target.scrape_duration_seconds;
      const head =
        `${target.target}  ${target.system ?? 'unknown system'}  ${target.state}  ` +
        `${target.scrapes} scrapes, ${target.failed_scrapes} failed, p50 ${quantity(p50, 'seconds')}, p99 ${quantity(p99, 'seconds')}`;
      const own = series.filter(
        (each) => each.target === target.target && each.repeats === null && TOLD.test(each.family),
      );
      return [
        head,
        ...target.notes.map((note) => `  ${note}`),
        ...histograms(own),
        ...counters(own),
        ...gauges(own),
      ].join('\n');
    })
    .join('\n\n');
}

function histograms(series: readonly SeriesSummary[]): string[] {
  return table(
    ['histogram', 'count', 'mean', 'p50', 'p90', 'p99', 'p99 within'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (statistics?.kind === 'aiperf' && 'count' in statistics.stats) {
        const { count = 0, avg, p50_estimate: p50, p90_estimate: p90, p99_estimate: p99 } = statistics.stats;
        const cells = [avg, p50, p90, p99].map((value) => shown(value ?? null, unit));
        return [[name(each), significant(count), ...cells, ABSENT]];
      }
      if (statistics?.kind !== 'histogram' || statistics.count === null || statistics.count === 0) return [];
      const { p50, p90, p99 } = statistics.percentiles ?? {};
      const cells = [statistics.mean, p50?.estimate ?? null, p90?.estimate ?? null, p99?.estimate ?? null];
      const within = p99?.bounds_by_sum ?? p99?.bounds ?? null;
      const [low, high] = within ?? [null, null];
      const interval = within === null ? ABSENT : `${shown(low, unit)} to ${high === null ? '∞' : shown(high, unit)}`;
      return [[name(each), significant(statistics.count), ...cells.map((value) => shown(value, unit)), interval]];
    }),
  );
}

function counters(series: readonly SeriesSummary[]): string[] {
  return table(
    ['counter', 'increase', 'per second'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (statistics?.kind === 'aiperf' && 'total' in statistics.stats) {
        const { total = 0, rate } = statistics.stats;
        return total === 0 ? [] : [[name(each), shown(total, unit), rate === undefined ? ABSENT : significant(rate)]];
      }
      if (statistics?.kind !== 'counter' || statistics.increase === 0) return [];
      const { increase, rate_per_second: rate } = statistics;
      return [[name(each), shown(increase, unit), rate === null ? ABSENT : significant(rate)]];
    }),
  );
}

function gauges(series: readonly SeriesSummary[]): string[] {
  return table(
    ['gauge', 'mean', 'min', 'max'],
    series.flatMap((each) => {
      const { statistics, unit } = each;
      if (each.type !== 'gauge' || statistics === null) return [];
      if (statistics.kind === 'gauge')
        return [[name(each), ...[statistics.mean, statistics.min, statistics.max].map((value) => shown(value, unit))]];
      if (statistics.kind !== 'aiperf') return [];
      const { avg, min, max } = statistics.stats;
      return [[name(each), ...[avg, min, max].map((value) => shown(value ?? null, unit))]];
    }),
  );
}

/** The labels that tell series of one family apart are shown with it; there may be many, the line is cut. */
function name({ family, labels }: SeriesSummary): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  const text = pairs.length === 0 ? family : `${family}{${pairs.join(',')}}`;
  // Labels come from the page: what a terminal would obey is shown, not sent.
  const plain = text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return plain.length > 72 ? `${plain.slice(0, 71)}…` : plain;
}

function shown(value: number | null, unit: string | null): string {
  if (value === null) return ABSENT;
  if (unit === 'seconds' || unit === 'ratio') return quantity(value, unit);
  return unit === null || unit === 'count' ? significant(value) : `${significant(value)} ${unit}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const kept = [head, ...rows.slice(0, MOST_PER_KIND)];
  const widths = head.map((_, column) => Math.max(...kept.map((row) => row[column]?.length ?? 0)));
  const lines = kept.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const more = rows.length > MOST_PER_KIND ? [`… and ${rows.length - MOST_PER_KIND} more in the files`] : [];
  return ['', ...lines.map((line) => `  ${line.trimEnd()}`), ...more.map((line) => `  ${line}`)];
}
