import {
  things,
  bucketIntervalText,
  familyValueText,
  ABSENT,
  quantity,
  quantityRange,
  significant,
} from '../../../core/text/quantities.ts';
import { wrapped } from '../../../core/text/words.ts';
import type {
  BucketReport,
  FamilyBuckets,
  GroupBuckets,
  PercentileInterval,
  SettingOfOption,
} from '../../explain/bucket-report.ts';
import type { LimitBuckets } from '../../explain/limit-report.ts';
import { aligned } from './layout.ts';

/** Groups of one family that have a row; the JSON has all. */
const MAX_GROUPS = 6;

/** The report on one target: intervals, the bounds that halve them, and what to set. */
export function bucketTable(report: BucketReport, columns: number): string {
  const { target, systems, families, without_observations: empty } = report;
  const head = `${target}  ${systems.length === 0 ? 'unknown system' : systems.join(', ')}`;
  const rest = empty.length === 0 ? [] : [`${things(empty.length, 'histogram families')} without observations`];
  if (families.length === 0)
    return [head, ...indented(rest.length === 0 ? ['the page has no histograms'] : rest)].join('\n');
  return [
    head,
    '',
    ...indented(intervalRows(families, columns - 2)),
    ...notes([...intervalNotes(families), ...rest], columns),
    ...dividedRows(families),
    ...limitLines(report, columns),
    ...report.settings.flatMap((setting) => settingLines(setting, columns)),
  ].join('\n');
}

function intervalRows(families: readonly FamilyBuckets[], columns: number): string[] {
  const mixed = families.some(({ counted }) => counted === 'since_start');
  const rows = families.flatMap((family) => {
    const shown = family.groups.slice(0, MAX_GROUPS);
    const names = distinguished(family, shown);
    return shown.map((group, i) => [
      names[i] ?? '',
      significant(group.n),
      ...(['p50', 'p90', 'p99'] as const).map((name) => intervalText(group.percentiles[name], family.unit)),
      ...(mixed ? [family.counted === 'window' ? 'window' : 'since start'] : []),
    ]);
  });
  const head = ['family', 'n', 'p50 within', 'p90 within', 'p99 within', ...(mixed ? ['counted'] : [])];
  const lines = aligned([head, ...rows]);
  return lines.every((line) => line.length <= columns) ? lines : rows.flatMap((row) => stacked(row, head));
}

/** A row of a table that is too wide, in two lines. */
function stacked([name = '', n = '', ...cells]: readonly string[], head: readonly string[]): string[] {
  const named = cells.map((cell, i) => (i < 3 ? `${(head[i + 2] ?? '').replace(' within', '')} ${cell}` : cell));
  return [`${name}  n ${n}`, `  ${named.join(' · ')}`];
}

/** The family, with the labels that tell its groups apart. */
function distinguished({ family }: FamilyBuckets, groups: readonly GroupBuckets[]): string[] {
  const differing = [...new Set(groups.flatMap(({ labels }) => Object.keys(labels)))].filter(
    (label) => new Set(groups.map(({ labels }) => labels[label])).size > 1,
  );
  return groups.map(({ labels }) => {
    const pairs = differing.map((label) => `${label}=${plain(labels[label] ?? '')}`);
    return pairs.length === 0 ? plain(family) : `${plain(family)}{${pairs.join(',')}}`;
  });
}

/** `20.0 – 40.0 ms (67 %)`; `*`: the values next to the percentile lie in different buckets. */
function intervalText(interval: PercentileInterval | null, unit: string | null): string {
  if (interval === null) return ABSENT;
  const { high, relative_width: relative, buckets } = interval;
  const percent = relative === null || relative === 0 || high === null ? '' : ` (${Math.round(relative * 100)} %)`;
  return `${bucketIntervalText(interval, unit)}${percent}${buckets > 1 ? '*' : ''}`;
}

function intervalNotes(families: readonly FamilyBuckets[]): string[] {
  const groups = families.flatMap((family) => family.groups);
  const hidden = families.filter((family) => family.groups.length > MAX_GROUPS);
  const isSpread = groups.some(({ percentiles }) =>
    Object.values(percentiles).some((each) => each !== null && each.buckets > 1),
  );
  return [
    ...(isSpread
      ? ['* the two values next to the percentile lie in different buckets: more observations narrow it']
      : []),
    ...(families.some(({ counted }) => counted === 'since_start')
      ? ['since start: nothing was observed in the window, so these are all counts since the server started']
      : []),
    ...hidden.map(
      ({ family, groups: all }) => `${plain(family)}: ${all.length - MAX_GROUPS} more groups of labels in --json`,
    ),
  ];
}

function dividedRows(families: readonly FamilyBuckets[]): string[] {
  const rows = families.flatMap((family) => {
    const { divide, missing_above: missing } = family;
    const added = divide.map(({ bound }) => String(bound)).join(' ');
    const above = missing === null ? [] : [`one above ${String(missing)}`];
    const proposal = [...(added === '' ? [] : [added]), ...above].join(', ');
    if (proposal === '') return [];
    const cost =
      divide.length === 0 ? ABSENT : `+${significant(family.series_added)} (${significant(family.series)} today)`;
    return [[plain(family.family), proposal, cost, optionText(family)]];
  });
  if (rows.length === 0) return ['', '  No bound is missing.'];
  const table = aligned([['family', 'bounds to add', 'series', 'set by'], ...rows]);
  return ['', '  Each bound halves the bucket that holds a percentile:', '', ...indented(table)];
}

/** What the buckets know of the limits, and a line for each limit that is no bound. */
function limitLines({ families, limits }: BucketReport, columns: number): string[] {
  if (limits.length === 0) return [];
  const shown = limits.flatMap((limit) => {
    const family = families.find((each) => each.family === limit.family);
    const groups = family?.groups.slice(0, MAX_GROUPS) ?? [];
    const place = groups.findIndex(({ labels }) => labels === limit.labels);
    const name = family === undefined ? undefined : distinguished(family, groups)[place];
    return name === undefined ? [] : [{ limit, name, unit: family?.unit ?? null }];
  });
  const hasClient = limits.some(({ client }) => client !== null);
  const rows = shown.map(({ limit, name }) => [
    limitText(limit),
    name,
    withinText(limit),
    ...(hasClient ? [limit.client === null ? ABSENT : percentText(limit.client.within)] : []),
    limit.add.length === 0 ? ABSENT : limit.add.join(' '),
  ]);
  const head = ['limit', 'family', 'within', ...(hasClient ? ['by the client'] : []), 'bounds to add'];
  const open = shown
    .filter(({ limit: { is_bound: isBound } }) => !isBound)
    .map(({ limit, name, unit }) => openText(limit, name, unit));
  const why =
    'The share within the limits of objectives and alerts. With the bounds to add it is counted, and a percentile near the limit is ' +
    'off by 5 % at most:';
  return [
    '',
    ...indented(wrapped(why, columns - 2)),
    '',
    ...indented(aligned([head, ...rows])),
    ...notes(open, columns),
  ];
}

/** `TTFT p95 < 300 ms`; of an alert with the share that it asks for. */
function limitText({ text, from, share }: LimitBuckets): string {
  if (from === 'slo') return text;
  return `${text} (${share === null ? from : `${from}, ${percentText(share)}`})`;
}

/** `! 300 ms is no bound of F but in the bucket 250 – 500 ms: fewer than 95 % are within it; Prometheus interpolates 66 %`. */
function openText({ limit, bucket, share, kept, within }: LimitBuckets, name: string, unit: string | null): string {
  const where = bucketIntervalText({ ...bucket, width: null }, unit);
  const verdict = share === null ? '' : ` ${keptText(share, kept)};`;
  return (
    `! ${familyValueText(limit, unit)} is no bound of ${name} but in the bucket ${where}:${verdict} ` +
    `Prometheus interpolates ${percentText(within.estimate)}`
  );
}

function keptText(share: number, kept: boolean | null): string {
  if (kept === null) return `it is open whether ${percentText(share)} are within it`;
  return `${kept ? 'at least' : 'fewer than'} ${percentText(share)} are within it`;
}

function withinText({ within: { low, high } }: LimitBuckets): string {
  return low === high ? percentText(low) : quantityRange([low, high], 'ratio');
}

const percentText = (share: number): string => quantity(share, 'ratio');

function optionText({ option, option_known: known }: FamilyBuckets): string {
  if (option !== null) return option;
  return known ? 'the server has no option' : 'not known';
}

function settingLines(
  { option, place, setting, since, note, system, bounds }: SettingOfOption,
  columns: number,
): string[] {
  const where = { argument: 'Argument', environment: 'Environment', file: 'Configuration file' }[place];
  const version = since === null ? '' : ` (${since})`;
  const text =
    setting === null
      ? [`No value of ${option} makes buckets that narrow.`]
      : setting.split('\n').map((line) => `  ${line}`);
  const sum = (of: 'today' | 'then'): number => bounds.reduce((total, each) => total + each[of], 0);
  const [first] = bounds;
  const what = bounds.length === 1 ? plain(first?.family ?? '') : things(bounds.length, 'histograms');
  const size = `${what}: ${things(sum('then'), 'bounds')} (${sum('today')} today)`;
  const remarks = [...(setting === null ? [] : [size]), ...(note === null ? [] : [note])];
  return [
    '',
    `  ${where} of ${system}${version}:`,
    ...indented(text),
    ...indented(remarks.flatMap((remark) => wrapped(remark, columns - 4))),
  ];
}

const notes = (lines: readonly string[], columns: number): string[] =>
  lines.length === 0 ? [] : ['', ...indented(lines.flatMap((line) => wrapped(line, columns - 2)))];

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** Names and labels come from the page: control characters are replaced. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
