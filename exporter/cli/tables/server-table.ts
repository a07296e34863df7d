import type { SeriesSummary, ServersFile, HistogramStatistics } from '../../../core/run/servers-file.ts';
import { ABSENT, quantity, significant, things, counted } from '../../../core/text/quantities.ts';
import { wrapped } from '../../../core/text/words.ts';
import { readServersFile } from '../../store/read-servers.ts';
import { aligned } from './layout.ts';
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

interface NamedSeries extends SeriesSummary {
  /** The family, with those of its labels that distinguish its series. */
  readonly name: string;
}

function named(all: readonly SeriesSummary[]): NamedSeries[] {
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
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
}

type ServerPercentile = NonNullable<HistogramStatistics['percentiles']>['p99'];

const boundsOf = ({ bounds, bounds_by_sum: bySum }: ServerPercentile): ServerPercentile['bounds'] => bySum ?? bounds;

/** The estimate; where it is outside of its own bounds, which the sum can narrow, the bound it went past: `≤ 1.20 s`. */
function estimate(percentile: ServerPercentile | undefined, unit: string | null): string {
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

/** Series of a kind and target; servers.json has all of them. */
const MAX_KIND = 60;

const PERCENTILES = ['p50', 'p90', 'p99'] as const;

/** A kind of metric: what its columns are, and the cells of a series that changed; null of one that did not. */
interface Kind {
  readonly head: readonly string[];
  readonly cells: (series: NamedSeries) => readonly string[] | null;
}

/** What the servers reported in a run, by target: every series that changed, in lines of at most `width` characters. */
export function shownServers(file: ServersFile, width = Infinity): string {
  const { targets, series, definitions } = file;
  // AIPerf's statistics have no bounds.
  if (definitions === 'aiperf') return serverTables(file);
  return targets
    .map((target) => {
      const own = series.filter((each) => each.target === target.target && each.repeats === null);
      const parts = KINDS.flatMap((kind) =>
        kindLines(kind, named(own), width - 2).map((line) => `  ${line}`.trimEnd()),
      );
      const notes = [...target.notes.map(plain), ...serverShares(own)].flatMap((text) => wrapped(text, width - 2));
      const nothing = parts.length === 0 ? ['nothing changed'] : [];
      const head = wrapped(targetLine(target), width);
      return [...head, ...[...notes, ...nothing].map((line) => `  ${line}`), ...parts].join('\n');
    })
    .join('\n\n');
}

/** A table where it fits, else each series on lines of its own. */
function kindLines({ head, cells }: Kind, all: readonly NamedSeries[], width: number): string[] {
  const rows = all.flatMap((each) => {
    const values = cells(each);
    return values === null ? [] : [[each.name, ...values]];
  });
  if (rows.length === 0) return [];
  const shown = rows.slice(0, MAX_KIND);
  const more = rows.length > MAX_KIND ? [`… and ${rows.length - MAX_KIND} more in servers.json`] : [];
  const table = aligned([head, ...shown]);
  if (table.every((line) => line.length <= width)) return ['', ...table, ...more];
  return ['', `${head[0] ?? ''}s`, ...shown.flatMap((row) => stacked(row, head, width)), ...more];
}

function stacked([name = '', ...values]: readonly string[], [, ...head]: readonly string[], width: number): string[] {
  const text = values.map((value, i) => `${head[i] ?? ''} ${value}`.replaceAll(' ', JOINT)).join(' · ');
  return [name, ...wrapped(text, width - 2).map((line) => `  ${line.replaceAll(JOINT, ' ')}`)];
}

/** A value stays with its name. */
const JOINT = '\u00a0';

const KINDS: readonly Kind[] = [
  {
    head: ['histogram', 'count', 'per second', 'mean', ...PERCENTILES.flatMap((name) => [name, `${name} within`])],
    cells: ({ statistics, unit }) => {
      if (statistics?.kind !== 'histogram' || statistics.count === 0) return null;
      const { count, rate_per_second: rate, mean, percentiles } = statistics;
      const each = PERCENTILES.flatMap((name) => [
        estimate(percentiles?.[name], unit),
        within(percentiles?.[name], unit),
      ]);
      return [counted(count), rateText(rate), inUnit(mean, unit), ...each];
    },
  },
  {
    head: ['counter', 'increase', 'per second'],
    cells: ({ statistics, unit }) => {
      if (statistics?.kind !== 'counter' || statistics.increase === 0) return null;
      return [inUnit(statistics.increase, unit), rateText(statistics.rate_per_second)];
    },
  },
  {
    head: ['gauge', 'min', 'mean', 'max'],
    cells: ({ statistics, unit, type }) => {
      if (type !== 'gauge' || statistics?.kind !== 'gauge' || statistics.min === statistics.max) return null;
      return [statistics.min, statistics.mean, statistics.max].map((value) => inUnit(value, unit));
    },
  },
];

const rateText = (rate: number | null): string => (rate === null ? ABSENT : significant(rate));

function within(percentile: ServerPercentile | undefined, unit: SeriesSummary['unit']): string {
  const bounds = percentile === undefined ? null : boundsOf(percentile);
  if (bounds === null) return ABSENT;
  const [low, high] = bounds;
  return high === null ? `> ${inUnit(low, unit)}` : `${inUnit(low, unit)} to ${inUnit(high, unit)}`;
}

/** Counters of a part and its whole, by system. */
const SHARES = [
  ['prefix cache hits', 'vllm:prefix_cache_hits_total', 'vllm:prefix_cache_queries_total', 'tokens'],
  ['external prefix cache hits', 'vllm:external_prefix_cache_hits_total', 'vllm:external_prefix_cache_queries_total', 'tokens'],
  ['speculative tokens accepted', 'vllm:spec_decode_num_accepted_tokens_total', 'vllm:spec_decode_num_draft_tokens_total', 'tokens'],
  ['speculative tokens accepted', 'trtllm_spec_decode_num_accepted_tokens_total', 'trtllm_spec_decode_num_draft_tokens_total', 'tokens'],
] as const; // prettier-ignore

/** Speculative decoding and cache hits as shares of what they are of; systems that report them as gauges have those. */
function serverShares(series: readonly SeriesSummary[]): string[] {
  return SHARES.flatMap(([name, part, whole, unit]) => {
    const [hits, all] = [increase(series, part), increase(series, whole)];
    if (hits === null || all === null || all === 0) return [];
    return [`${name}: ${quantity(hits / all, 'ratio')} (${significant(hits)} of ${significant(all)} ${unit})`];
  });
}

/** Null: the target does not have the counter, or what it gained is unknown for one of its series. */
function increase(series: readonly SeriesSummary[], family: string): number | null {
  const gains = series.filter((each) => each.family === family).map(({ statistics }) => statistics);
  if (gains.length === 0) return null;
  return gains.reduce<number | null>((sum, gain) => {
    const value = gain?.kind === 'counter' ? gain.increase : null;
    return sum === null || value === null ? null : sum + value;
  }, 0);
}

/** `--show-servers`: prints what the servers reported in a stored run; `path`: its directory. */
export async function printServers(path: string, width: number): Promise<void> {
  const file = await readServersFile(path);
  process.stdout.write(file === null ? 'no server metrics were collected\n\n' : `${shownServers(file, width)}\n\n`);
}
