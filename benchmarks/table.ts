import type { Row, Target } from './bench.ts';
import { median } from '../core/stats/percentiles.ts';

const HEAD = ['what', 'ours', 'peer', 'ratio', 'target', 'met?'] as const;
const ABSENT = '–';

/** The rows as aligned text. A ratio is the median of the rounds' ratios, with their range. */
export function table(rows: readonly Row[]): string {
  const cells = [[...HEAD], ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))),
    )
    .map((row) => `  ${row.join('  ').trimEnd()}\n`)
    .join('');
}

function cellsOf(row: Row): string[] {
  const { what, unit, ours, peer, target, standardError } = row;
  const withUnit = (values: readonly number[]): string => `${significant(median(values))} ${unit}`;
  const error = standardError === undefined || peer !== null ? '' : errorText(standardError);
  return [
    what,
    `${withUnit(ours)}${error}`,
    peer === null ? ABSENT : withUnit(peer),
    peer === null ? ABSENT : comparison(row),
    target === null ? ABSENT : targetText(target, unit),
    target === null ? ABSENT : met(row, target),
  ];
}

function comparison(row: Row): string {
  const by = row.target?.by ?? 'ratio';
  const values = perRound(row, by === 'difference' ? 'difference' : 'ratio');
  const text = (value: number): string =>
    by === 'difference' ? `${value < 0 ? '' : '+'}${significant(value)} ${row.unit}` : significant(value);
  const range = values.length > 1 ? ` (${text(Math.min(...values))} to ${text(Math.max(...values))})` : '';
  return `${text(median(values))}${range}${row.standardError === undefined ? '' : errorText(row.standardError)}`;
}

const errorText = (standardError: number): string => ` ± ${Number(standardError.toPrecision(2))}`;

function targetText({ by, atMost }: Target, unit: string): string {
  if (by === 'ratio') return `≤ ${significant(atMost)}`;
  return by === 'difference' ? `≤ +${atMost} ${unit}` : `≤ ${atMost} ${unit}`;
}

/** So many standard errors above a target are no evidence that it is not met. */
const BY_CHANCE = 2;

/** By the median; in how many rounds beside it, because a median that barely meets a target has not met it. */
function met(row: Row, { by, atMost }: Target): string {
  const values = perRound(row, by);
  const inRounds = values.filter((value) => value <= atMost).length;
  const above = median(values) - atMost;
  const isByChance = above > 0 && above <= BY_CHANCE * (row.standardError ?? 0);
  const verdict = isByChance ? 'equal within 2 ±' : above <= 0 ? 'yes' : 'NO';
  return values.length > 1 ? `${verdict} (${inRounds} of ${values.length})` : verdict;
}

function perRound({ ours, peer }: Row, by: Target['by']): number[] {
  return ours.map((value, round) => {
    const other = peer?.[round] ?? NaN;
    if (by === 'value') return value;
    return by === 'ratio' ? value / other : value - other;
  });
}

function significant(value: number): string {
  if (!Number.isFinite(value)) return ABSENT;
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}
