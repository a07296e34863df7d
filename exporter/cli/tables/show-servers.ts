import type { SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import { ABSENT, counted, significant, quantity } from '../../../core/text/quantities.ts';
import { wrapped } from '../../../core/text/wrapped.ts';
import { aligned } from './aligned.ts';
import { targetLine } from './server-lines.ts';
import {
  boundsOf,
  estimate,
  inUnit,
  named,
  plain,
  serverTables,
  type NamedSeries,
  type ServerPercentile,
} from './server-table.ts';

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
