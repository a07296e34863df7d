import { things } from '../../../core/text/things.ts';
import { wrapped } from '../../../core/text/wrapped.ts';
import { bucketIntervalText } from '../../../core/text/bucket-interval.ts';
import { ABSENT, significant } from '../../../core/text/quantities.ts';
import type {
  BucketReport,
  FamilyBuckets,
  GroupBuckets,
  PercentileInterval,
  SettingOfOption,
} from '../../explain/bucket-report.ts';
import { aligned } from './aligned.ts';

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

function optionText({ option, option_known: known }: FamilyBuckets): string {
  if (option !== null) return option;
  return known ? 'the server has no option' : 'not known';
}

function settingLines({ option, place, setting, since, note, system }: SettingOfOption, columns: number): string[] {
  const where = { argument: 'Argument', environment: 'Environment', file: 'Configuration file' }[place];
  const version = since === null ? '' : ` (${since})`;
  const text =
    setting === null ? [`No value of ${option} halves these buckets.`] : setting.split('\n').map((line) => `  ${line}`);
  const remarks = note === null ? [] : wrapped(note, columns - 4);
  return ['', `  ${where} of ${system}${version}:`, ...indented(text), ...indented(remarks)];
}

const notes = (lines: readonly string[], columns: number): string[] =>
  lines.length === 0 ? [] : ['', ...indented(lines.flatMap((line) => wrapped(line, columns - 2)))];

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** Names and labels come from the page: control characters are replaced. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
