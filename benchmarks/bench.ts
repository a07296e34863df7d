import { median } from '../core/stats/percentiles.ts';
import { Unavailable, type Workshop } from './workshop.ts';

/** What a row is judged by: ours ÷ peer, ours − peer, or ours alone. */
export interface Target {
  readonly by: 'ratio' | 'difference' | 'value';
  readonly atMost: number;
}

/** One line of the table. The numbers are one per round; those of the same round were measured one after the other. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: readonly number[];
  /** Of the number that the target is for, in a simulation; default: none is known. */
  readonly standardError?: number;
  /** Null when there is no peer to compare with. */
  readonly peer: readonly number[] | null;
  /** Null when the row is for information. */
  readonly target: Target | null;
}

/** What a bench may use, and where it reports what it could not do. */
export interface BenchContext {
  readonly rounds: number;
  /** How long the memory of a run is watched. */
  readonly minutes: number;
  readonly workshop: Workshop;
  /** A part that cannot be measured here, and why. */
  skipped(what: string, reason: string): void;
  /** A program that did not do its work: a fault, unlike a slow one. */
  failed(what: string, error: unknown): void;
  /** What a reader must know to read the numbers. */
  note(line: string): void;
}

/** One question about the cost of something. Throws `Unavailable` when this machine lacks what the whole bench needs. */
export interface Bench {
  readonly name: string;
  readonly question: string;
  measure(context: BenchContext): Promise<readonly Row[]>;
}

/**
 * Runs the competitors one after the other, A B A B …, as often as there are rounds, and gives what each measured, one
 * per round. A competitor that is unavailable or fails is reported once and is not in the result, so that the numbers of
 * all others belong to the same rounds.
 */
export async function inTurn<T>(
  rounds: number,
  competitors: Readonly<Record<string, () => Promise<T>>>,
  context: Pick<BenchContext, 'skipped' | 'failed'>,
): Promise<Map<string, T[]>> {
  const measured = new Map<string, T[]>(Object.keys(competitors).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(competitors)) {
      const results = measured.get(name);
      if (results === undefined) continue;
      try {
        results.push(await measure());
      } catch (error) {
        measured.delete(name);
        if (error instanceof Unavailable) context.skipped(name, error.message);
        else context.failed(name, error);
      }
    }
  }
  return measured;
}

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
